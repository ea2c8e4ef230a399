import { z } from 'zod';

/**
 * The structured account of one invoice line: every input of its computation and every intermediate
 * result, in order of computation. A person can recompute the line from it by hand. No code recomputes it:
 * rating returns it together with the amount. Decimals are canonical text in main units, periods are
 * half-open `[start, end)` in UTC, `rule` names the page and section that decides.
 */
const Decimal = z.string().regex(/^-?\d+(\.\d+)?$/);
const Rule = z.string().min(1);
const Period = z.object({ start: z.string(), end: z.string() });

const TierTerms = z.object({
  up_to: Decimal.nullable(),
  unit_amount: Decimal,
  flat_amount: Decimal,
});

/** The terms of the price that rated the line. */
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

/** One tier's share of a quantity: units above `above`, up to and including `up_to`. `tier` counts from 1. */
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

/** One quantity priced separately: the whole line, one window, or one group in one window. */
export const ExplainedRating = z.object({
  window_start: z.string().nullable(),
  group: z.array(z.string()),
  quantity: Decimal,
  packages: Decimal.nullable(),
  tiers: z.array(ExplainedTier).nullable(),
  amount: Decimal,
});
export type ExplainedRating = z.infer<typeof ExplainedRating>;

/** Totals of the omitted entries of a long list. The line's usage queries return the whole list again. */
const Omitted = z.object({ count: z.int().min(1), quantity: Decimal, amount: Decimal }).nullable();

/** Measured usage, before any deduction. */
const UsageStep = z.object({
  step: z.literal('usage'),
  rule: Rule,
  aggregation: z.string(),
  quantity: Decimal,
  event_count: z.int(),
  /** Windows of the price or meter, each priced separately; null when the period is one window. */
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

/** Free units of an entitlement: for each reset window, the rest of the limit before this line's usage. */
const AllowanceStep = z.object({
  step: z.literal('allowance'),
  rule: Rule,
  usage_reset_period: z.string(),
  /**
   * How the limit of a part of a period comes about: `whole` × part / whole time, in whole units, and `own`, which
   * the subscription itself grants and which is not prorated. Absent if the limit is that of a whole period.
   */
  proration: z
    .object({ whole: Decimal, own: Decimal, part_ms: z.int(), whole_ms: z.int(), limit: Decimal })
    .optional(),
  windows: z.array(
    z.object({
      start: z.string(),
      end: z.string(),
      /** Start of the usage that claims free units: a window of the price, or a later line. */
      at: z.string(),
      /** Null means unlimited. */
      limit: Decimal.nullable(),
      /** Used earlier, by usage in the same reset window or by other lines of the meter. */
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

/** Quotas for windows of time: each window that the usage of the line's meter opened. */
const QuotaStep = z.object({
  step: z.literal('quota'),
  rule: Rule,
  windows: z.array(
    z.object({
      /** Of quotas that add up, the lowest id. */
      entitlement_id: z.string(),
      start: z.string(),
      end: z.string(),
      quota: Decimal,
      /** Usage of all lines of the meter in the window. */
      used: Decimal,
      over: Decimal,
      /** When the usage reached the quota; null if it did not. */
      exhausted_at: z.string().nullable(),
    }),
  ),
  omitted: z.object({ count: z.int().min(1), over: Decimal }).nullable(),
  /** Usage in no window, for example because a quota would outlast the billing period. */
  outside: Decimal,
  free: Decimal,
  /** Usage of this line beyond the quotas; a unit beyond several of them counts once. */
  billable: Decimal,
});

/** Converts quantity to money, unrounded. */
const RateStep = z.object({
  step: z.literal('rate'),
  rule: Rule,
  model: ExplainedModel,
  ratings: z.array(ExplainedRating),
  omitted: Omitted,
  quantity: Decimal,
  amount: Decimal,
});

/**
 * The unrounded charges of all usage rows of the subscription; one commitment applies to all of them
 * together.
 */
const PoolStep = z.object({
  step: z.literal('pool'),
  rule: Rule,
  amounts: z.array(Decimal),
  /** This row's index in the list, from 0; null on the rows for overage and true-up. */
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

/** Usage money compared with a commitment, once for the period or once per window. */
const CommitmentStep = z.object({
  step: z.literal('commitment'),
  rule: Rule,
  type: z.enum(['amount', 'quantity']),
  /**
   * Money, or units for a commitment of quantity; the price of these units is then the commitment in money.
   */
  promised: Decimal,
  quantity_rating: ExplainedRating.nullable(),
  overage_factor: Decimal,
  true_up_enabled: z.boolean(),
  /** For stubs: the `share` of the commitment that applies. Null means the whole commitment. */
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

/**
 * Usage money compared with a commitment for a term of several billing periods; this line covers one of them.
 */
const TermCommitmentStep = z.object({
  step: z.literal('term_commitment'),
  rule: Rule,
  term: Period,
  /** Usage money of the term's earlier periods, before the factor. */
  prior_usage: Decimal,
  overage_factor: Decimal,
  true_up_enabled: z.boolean(),
  last_period_of_term: z.boolean(),
  /** `commitment` is for the whole term; `utilized` is this period's part of it. */
  ...CommitmentOutcome,
});

/**
 * A row's part of an amount that several rows share in proportion to their own amounts. Shares are rounded
 * down; the minor units left over go to the largest remainders, ties to the earlier row.
 */
const ShareStep = z.object({
  step: z.literal('share'),
  rule: Rule,
  of: Decimal,
  weights: z.array(Decimal),
  /** This row's index in the weights, from 0. */
  index: z.int(),
  decimals: z.int(),
  amount: Decimal,
});

/** The part of a period's price for a part of the period, by elapsed milliseconds. */
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

/** A fee that a trial waives: the row shows the later charge and has amount zero. */
const TrialStep = z.object({
  step: z.literal('trial'),
  rule: Rule,
  trial: Period,
  /** Always zero. */
  amount: Decimal,
});

/** The part of a price that was actually charged: the rows of its service window after discounts. */
const NetStep = z.object({
  step: z.literal('net'),
  rule: Rule,
  of: Decimal,
  /** Charge rows of the window, before and after their discounts. */
  gross: Decimal,
  billed: Decimal,
  amount: Decimal,
});

/** Credit for time not served, at most the amount billed for it. */
const CreditStep = z.object({
  step: z.literal('credit'),
  rule: Rule,
  potential: Decimal,
  billed: Decimal,
  credited_before: Decimal,
  /** Negative or zero. */
  amount: Decimal,
});

/** Converts a custom currency's rounded amount to the currency of the invoice and rounds it again. */
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
 * The only rounding of a line, half away from zero. Under a commitment the charge, the overage and the
 * true-up are rounded; utilized is the rest, so that the three sum to the charge. The row is the part
 * that it bills.
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
  QuotaStep,
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

/** One row for several rows: the sums of their rounded quantities and amounts. */
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

/**
 * A coupon on the row. The base is one or more rows; this row's share is in proportion to its amount left.
 */
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
  /** The subtotal left after earlier coupons. No coupon takes more than this, even with negative rows. */
  subtotal_left: Decimal,
  discount: Decimal,
  /** The row's amount left before and after this coupon. */
  before: Decimal,
  amount: Decimal,
  after: Decimal,
});

/** Credits of a wallet on the row, in money; the wallet pays for the row's price type. */
const PrepaidCreditStep = z.object({
  step: z.literal('prepaid_credit'),
  rule: Rule,
  wallet_id: z.string(),
  /**
   * Money left in the wallet for this invoice, and the rest of the invoice that credits may pay. The least of
   * these two and `before` is paid.
   */
  wallet_left: Decimal,
  invoice_left: Decimal,
  before: Decimal,
  amount: Decimal,
  after: Decimal,
});

/** The row's part of a tax of the invoice. The tax is computed and rounded once for all rows together. */
const TaxStep = z.object({
  step: z.literal('tax'),
  rule: Rule,
  tax_rate_id: z.string(),
  tax_behavior: z.enum(['inclusive', 'exclusive']),
  percentage_value: Decimal,
  /** The row's part of the invoice's tax base: its amount after discounts. */
  line_base: Decimal,
  invoice_base: Decimal,
  taxable_amount: Decimal,
  tax_amount: Decimal,
});

/** Changes that the invoice made to the row after rating, in order. */
export const SettlementStep = z.discriminatedUnion('step', [
  DiscountStep,
  PrepaidCreditStep,
  TaxStep,
]);
export type SettlementStep = z.infer<typeof SettlementStep>;

export const Explanation = z.object({
  kind: z.enum(['base', 'overage', 'true_up', 'credit']),
  currency: z.string(),
  /** The service period that the line charges for. */
  period: Period,
  quantity: Decimal,
  /** Rounded, as shown on the invoice. */
  amount: Decimal,
  steps: z.array(ExplanationStep),
  /** Absent until the row is on an invoice. */
  settlement: z.array(SettlementStep).optional(),
});
export type Explanation = z.infer<typeof Explanation>;
