import { z } from 'zod';

/**
 * The structured account of one invoice line: every number it was computed from and every result on
 * the way, in the order of the computation. A person can redo the line from it by hand, and nothing
 * recomputes it: rating returns it together with the amount. Decimals are canonical text in main units,
 * periods are half-open `[start, end)` in UTC, `rule` names the page and section that decides.
 */
const Decimal = z.string().regex(/^-?\d+(\.\d+)?$/);
const Rule = z.string().min(1);
const Period = z.object({ start: z.string(), end: z.string() });

const TierTerms = z.object({
  up_to: Decimal.nullable(),
  unit_amount: Decimal,
  flat_amount: Decimal,
});

/** What is charged for: the terms of the price that rated. */
export const ExplainedModel = z.discriminatedUnion('billing_model', [
  z.object({ billing_model: z.literal('FLAT_FEE'), unit_amount: Decimal }),
  z.object({
    billing_model: z.literal('PACKAGE'),
    package_amount: Decimal,
    divide_by: Decimal,
    round: z.enum(['up', 'down']),
  }),
  z.object({
    billing_model: z.literal('TIERED'),
    tier_mode: z.enum(['VOLUME', 'SLAB']),
    tiers: z.array(TierTerms),
  }),
]);
export type ExplainedModel = z.infer<typeof ExplainedModel>;

/** A tier's share of one quantity: units above `above`, up to and with `up_to`. `tier` counts from 1. */
export const ExplainedTier = z.object({
  tier: z.int().min(1),
  above: Decimal,
  up_to: Decimal.nullable(),
  quantity: Decimal,
  unit_amount: Decimal,
  flat_amount: Decimal,
  amount: Decimal,
});
export type ExplainedTier = z.infer<typeof ExplainedTier>;

/** One quantity priced alone: the whole line, or one window, or one group in one window. */
export const ExplainedRating = z.object({
  window_start: z.string().nullable(),
  group: z.array(z.string()),
  quantity: Decimal,
  packages: Decimal.nullable(),
  tiers: z.array(ExplainedTier).nullable(),
  amount: Decimal,
});
export type ExplainedRating = z.infer<typeof ExplainedRating>;

/** What a long list leaves out, in sum. The list itself can be asked again with the line's usage queries. */
const Omitted = z.object({ count: z.int().min(1), quantity: Decimal, amount: Decimal }).nullable();

/** What was measured, before anything is taken off. */
const UsageStep = z.object({
  step: z.literal('usage'),
  rule: Rule,
  aggregation: z.string(),
  quantity: Decimal,
  event_count: z.int(),
  /** Windows of the price or meter, each priced alone; null when the period is one window. */
  windows: z
    .object({ bucket_size: z.string(), timezone: z.string(), with_usage: z.int() })
    .nullable(),
});

/** The quantity of a fixed line. */
const QuantityStep = z.object({
  step: z.literal('quantity'),
  rule: Rule,
  quantity: Decimal,
  min_quantity: Decimal.nullable(),
});

/** Free units of an entitlement: in each reset window, what is left of the limit before this line's usage. */
const AllowanceStep = z.object({
  step: z.literal('allowance'),
  rule: Rule,
  usage_reset_period: z.string(),
  windows: z.array(
    z.object({
      start: z.string(),
      end: z.string(),
      /** Where the usage begins that asks for free units: a window of the price, or a later line. */
      at: z.string(),
      /** null = unlimited. */
      limit: Decimal.nullable(),
      /** Used up before, by earlier usage in the window or by other lines of the meter. */
      used_before: Decimal,
      usage: Decimal,
      free: Decimal,
      billable: Decimal,
    }),
  ),
  omitted: z.object({ count: z.int().min(1), free: Decimal, billable: Decimal }).nullable(),
  free: Decimal,
  billable: Decimal,
});

/** Quantity to money, unrounded. */
const RateStep = z.object({
  step: z.literal('rate'),
  rule: Rule,
  model: ExplainedModel,
  ratings: z.array(ExplainedRating),
  omitted: Omitted,
  quantity: Decimal,
  amount: Decimal,
});

/** The unrounded charges of all usage rows of the subscription, which are held to one commitment together. */
const PoolStep = z.object({
  step: z.literal('pool'),
  rule: Rule,
  amounts: z.array(Decimal),
  /** This row's place among them, from 0; null on the rows for overage and true-up. */
  index: z.int().nullable(),
  amount: Decimal,
});

const CommitmentOutcome = {
  usage: Decimal,
  commitment: Decimal,
  utilized: Decimal,
  overage: Decimal,
  true_up: Decimal,
  amount: Decimal,
};

/** Usage money against a promise, once for the period or once for each window. */
const CommitmentStep = z.object({
  step: z.literal('commitment'),
  rule: Rule,
  type: z.enum(['amount', 'quantity']),
  /** Money, or units for a commitment of quantity, whose price is then the commitment in money. */
  promised: Decimal,
  quantity_rating: ExplainedRating.nullable(),
  overage_factor: Decimal,
  true_up_enabled: z.boolean(),
  /** The promise is for the whole of this; `share` of it is asked for (stubs). null = all of it. */
  share: z.object({ part_ms: z.int(), whole_ms: z.int() }).nullable(),
  windows: z
    .array(
      z.object({
        start: z.string(),
        share: z.object({ part_ms: z.int(), whole_ms: z.int() }).nullable(),
        ...CommitmentOutcome,
      }),
    )
    .nullable(),
  omitted: z.object({ count: z.int().min(1), ...CommitmentOutcome }).nullable(),
  ...CommitmentOutcome,
});

/** Usage money against a promise for a term of several billing periods, of which this is one. */
const TermCommitmentStep = z.object({
  step: z.literal('term_commitment'),
  rule: Rule,
  term: Period,
  /** Usage money of the term's earlier periods, before the factor. */
  prior_usage: Decimal,
  overage_factor: Decimal,
  true_up_enabled: z.boolean(),
  last_period_of_term: z.boolean(),
  /** `commitment` is the term's, `utilized` this period's part of it. */
  ...CommitmentOutcome,
});

/**
 * A row's part of an amount that several rows share in proportion to their own amounts: shares rounded
 * down, the minor units left over to the largest remainders, ties to the earlier row.
 */
const ShareStep = z.object({
  step: z.literal('share'),
  rule: Rule,
  of: Decimal,
  weights: z.array(Decimal),
  /** This row's place among the weights, from 0. */
  index: z.int(),
  decimals: z.int(),
  amount: Decimal,
});

/** The part of a period's price for a slice of it, by elapsed milliseconds. */
const ProrationStep = z.object({
  step: z.literal('proration'),
  rule: Rule,
  of: Decimal,
  slice: Period,
  reference: Period,
  slice_ms: z.int(),
  reference_ms: z.int(),
  amount: Decimal,
});

/** A fee that a trial waives: the row shows what will be charged for, and asks for nothing. */
const TrialStep = z.object({
  step: z.literal('trial'),
  rule: Rule,
  trial: Period,
  /** Zero. */
  amount: Decimal,
});

/** The part of a price that was really charged: what discounts left of the rows of its service window. */
const NetStep = z.object({
  step: z.literal('net'),
  rule: Rule,
  of: Decimal,
  /** Charge rows of the window before and after their discounts. */
  gross: Decimal,
  billed: Decimal,
  amount: Decimal,
});

/** What goes back for time not served, at most what was billed for it. */
const CreditStep = z.object({
  step: z.literal('credit'),
  rule: Rule,
  potential: Decimal,
  billed: Decimal,
  credited_before: Decimal,
  /** Negative or zero. */
  amount: Decimal,
});

/** A custom currency's rounded amount in the currency of the invoice, rounded again to that. */
const ConversionStep = z.object({
  step: z.literal('conversion'),
  rule: Rule,
  from_currency: z.string(),
  from_amount: Decimal,
  factor: Decimal,
  to_currency: z.string(),
  unrounded: Decimal,
  decimals: z.int(),
  amount: Decimal,
});

/**
 * The one rounding of a line, half away from zero. Under a commitment the charge, the overage and the
 * true-up are rounded and utilized is what is left, so that the three sum to the charge; the row is the
 * part that it bills.
 */
const RoundingStep = z.object({
  step: z.literal('rounding'),
  rule: Rule,
  unrounded: Decimal,
  currency: z.string(),
  decimals: z.int(),
  parts: z
    .object({ charge: Decimal, utilized: Decimal, overage: Decimal, true_up: Decimal })
    .nullable(),
  bills: z.enum(['charge', 'utilized', 'overage', 'true_up']),
  amount: Decimal,
});

const LINE_STEPS = [
  UsageStep,
  QuantityStep,
  AllowanceStep,
  RateStep,
  PoolStep,
  CommitmentStep,
  TermCommitmentStep,
  ShareStep,
  ProrationStep,
  NetStep,
  TrialStep,
  CreditStep,
  ConversionStep,
  RoundingStep,
] as const;

/** One row that stands for several: their rounded quantities and amounts, added up. */
const SumStep = z.object({
  step: z.literal('sum'),
  rule: Rule,
  parts: z.array(
    z.object({
      period: Period,
      quantity: Decimal,
      amount: Decimal,
      steps: z.array(z.discriminatedUnion('step', LINE_STEPS)),
    }),
  ),
  quantity: Decimal,
  amount: Decimal,
});

export const ExplanationStep = z.discriminatedUnion('step', [...LINE_STEPS, SumStep]);
export type ExplanationStep = z.infer<typeof ExplanationStep>;
export type ExplanationStepOf<Name extends ExplanationStep['step']> = Extract<
  ExplanationStep,
  { step: Name }
>;
export type LineStep = Exclude<ExplanationStep, { step: 'sum' }>;

/** A coupon on the row: of a base of one or more rows, this row's share, in proportion to what it had left. */
const DiscountStep = z.object({
  step: z.literal('discount'),
  rule: Rule,
  level: z.enum(['line_item', 'invoice']),
  coupon_id: z.string(),
  coupon_association_id: z.string().nullable(),
  discount_type: z.enum(['fixed', 'percentage']),
  percentage_off: Decimal.nullable(),
  amount_off: Decimal.nullable(),
  base: Decimal,
  /** What earlier coupons left of the subtotal; no coupon takes more, however the rows below zero fall. */
  subtotal_left: Decimal,
  discount: Decimal,
  /** What the row had left before, and has after. */
  before: Decimal,
  amount: Decimal,
  after: Decimal,
});

/** Credits of a wallet on the row, in money; the row's price type is one that the wallet pays for. */
const PrepaidCreditStep = z.object({
  step: z.literal('prepaid_credit'),
  rule: Rule,
  wallet_id: z.string(),
  /** What the wallet had left for the invoice, and the invoice for credits; the least of the three is paid. */
  wallet_left: Decimal,
  invoice_left: Decimal,
  before: Decimal,
  amount: Decimal,
  after: Decimal,
});

/** A tax of the invoice that falls on the row: it is computed and rounded once for all rows together. */
const TaxStep = z.object({
  step: z.literal('tax'),
  rule: Rule,
  tax_rate_id: z.string(),
  tax_behavior: z.enum(['inclusive', 'exclusive']),
  percentage_value: Decimal,
  /** The row's part of the invoice's tax base: what discounts left of it. */
  line_base: Decimal,
  invoice_base: Decimal,
  taxable_amount: Decimal,
  tax_amount: Decimal,
});

/** What the invoice did with the row after it was rated, in order. */
export const SettlementStep = z.discriminatedUnion('step', [
  DiscountStep,
  PrepaidCreditStep,
  TaxStep,
]);
export type SettlementStep = z.infer<typeof SettlementStep>;

export const Explanation = z.object({
  kind: z.enum(['base', 'overage', 'true_up', 'credit']),
  currency: z.string(),
  /** The service the line charges for. */
  period: Period,
  quantity: Decimal,
  /** Rounded, as on the invoice. */
  amount: Decimal,
  steps: z.array(ExplanationStep),
  /** Absent until the row stands on an invoice. */
  settlement: z.array(SettlementStep).optional(),
});
export type Explanation = z.infer<typeof Explanation>;
