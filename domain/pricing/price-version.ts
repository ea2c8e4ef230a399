import { invalidOperation } from '../errors.ts';
import { parseDecimal } from '../money.ts';
import type { FilterValues } from '../metering/usage.ts';
import type { BillingPeriod } from './cadence.ts';
import type {
  InvoiceCadence,
  PriceRecord,
  PriceUnitType,
  TierRecord,
  TransformQuantity,
} from './price.ts';
import { problems, refusal } from './problems.ts';
import { epochMs } from '../time/instant.ts';
import type { PriceDefinition, TierDefinition } from './validate-price.ts';

/** The fields of a stored price that versioning reads. Dates are ISO 8601 UTC, half-open. */
export interface VersionedPrice extends PriceRecord {
  /** Root of the lineage; for the root its own id (billing 2.7). */
  readonly parent_price_id: string;
  readonly status: string;
  readonly entity_type: string;
  readonly entity_id: string;
  readonly billing_period: BillingPeriod;
  readonly billing_period_count: number;
  readonly invoice_cadence: InvoiceCadence;
  readonly price_unit_type: PriceUnitType;
  /** CUSTOM prices only: code of the pricing unit, and the terms in that unit. */
  readonly price_unit: string | null;
  readonly price_unit_amount: string | null;
  readonly price_unit_tiers: readonly TierRecord[] | null;
  readonly meter_id: string | null;
  readonly filter_values: FilterValues | null;
  readonly trial_period: number | null;
  /** Null means no start: valid for all past instants. */
  readonly start_date: string | null;
  readonly end_date: string | null;
}

/** Terms that affect rating. A change of one ends the price and starts the next version. */
const PRICING_FIELDS = [
  'amount', 'billing_model', 'tier_mode', 'tiers', 'transform_quantity', 'bucket_size',
] as const; // prettier-ignore

const UNIT_FIELDS = ['price_unit_amount', 'price_unit_tiers'] as const;

/** Fields that never change. A client may send them back unchanged. */
const IMMUTABLE_FIELDS = [
  'type', 'currency', 'billing_period', 'billing_period_count', 'invoice_cadence', 'meter_id',
  'price_unit_type', 'entity_type', 'entity_id',
] as const; // prettier-ignore

/** Pricing fields of an update. Absent means unchanged. Other fields of the body are changed in place. */
export interface PriceEdit extends Partial<Pick<PriceDefinition, (typeof PRICING_FIELDS)[number]>> {
  readonly price_unit_amount?: string | number | null;
  readonly price_unit_tiers?: readonly TierDefinition[] | null;
  readonly effective_from?: string | null;
}

export type PriceEditPlan =
  | { readonly kind: 'in_place' }
  | {
      readonly kind: 'new_version';
      /** End of the old version and start of the new one, without a gap. */
      readonly effective_from: string;
      readonly parent_price_id: string;
      /** Terms of the new version. The caller must run `validatePrice` on them. */
      readonly definition: PriceDefinition;
    };

/**
 * Plans an update of a price (billing 2.7). Text is changed in place. A change of the terms ends
 * the price at `effective_from` (default `now`, not before its start) and starts the next version there, with
 * the same root. Terms equal to the stored ones are not a change, so a client may send a whole price back. If
 * `effective_from` is sent with them, they still make a new version, as observed. Refuses a change of an
 * immutable field, terms of the other unit kind, and new terms for a price that already has an end.
 */
export function planPriceEdit(price: VersionedPrice, sent: PriceEdit, now: string): PriceEditPlan {
  const own = withoutEcho(price, sent);
  // An explicit null clears an optional field. For the bucket size the cleared value is `none`.
  const edit: PriceEdit = own.bucket_size === null ? { ...own, bucket_size: 'none' } : own;
  refuseImmutable(price, edit);
  refuseOtherUnit(price, edit);
  if (!sentTerms(edit).some((field) => isChange(price, field, edit[field]))) {
    if (!edit.effective_from) return { kind: 'in_place' };
    if (sentTerms(edit).length === 0)
      throw refusal(
        'effective_from',
        'nothing_to_version',
        'requires a pricing field in the same request',
      );
  }
  if (price.end_date) {
    throw invalidOperation(`Price ${price.id} ends at ${price.end_date}: it has no new versions.`);
  }
  const effectiveFrom = edit.effective_from ?? now;
  if (price.start_date && epochMs(effectiveFrom) < epochMs(price.start_date)) {
    throw refusal('effective_from', 'before_start', `must not be before ${price.start_date}`);
  }
  return {
    kind: 'new_version',
    effective_from: effectiveFrom,
    parent_price_id: price.parent_price_id,
    definition: nextDefinition(price, edit, effectiveFrom),
  };
}

/**
 * The terms of a plan's price on one subscription: those of the plan with what the subscription overrides, of
 * the same lineage (billing 10.1). An override of the quantity alone keeps every term. Refuses what
 * `planPriceEdit` refuses, except the end of the price, which the copy keeps.
 */
export function overriddenTerms(
  price: VersionedPrice,
  sent: PriceEdit,
  start: string,
): { readonly parent_price_id: string; readonly definition: PriceDefinition } {
  refuseImmutable(price, sent);
  refuseOtherUnit(price, sent);
  const definition = { ...nextDefinition(price, sent, start), end_date: price.end_date };
  return { parent_price_id: price.parent_price_id, definition };
}

/** Whether two prices of one lineage have the same terms: every term that an edit can change is equal. */
export const haveSameTerms = (left: VersionedPrice, right: VersionedPrice): boolean =>
  [...PRICING_FIELDS, ...UNIT_FIELDS].every(
    (field) => stored(left, field) === stored(right, field),
  );

/**
 * The end date that a delete sets: the given one, else `now`. An end equal to the start is allowed (the price
 * is never valid). An end before the start is refused, and so is a price that already has an end
 * (billing 2.7).
 */
export function endPrice(
  price: Pick<VersionedPrice, 'id' | 'start_date' | 'end_date'>,
  request: { readonly end_date?: string | null },
  now: string,
): string {
  if (price.end_date) {
    throw invalidOperation(`Price ${price.id} ends at ${price.end_date} already.`);
  }
  const end = request.end_date ?? now;
  if (price.start_date && epochMs(end) < epochMs(price.start_date)) {
    throw refusal('end_date', 'before_start', `must not be before ${price.start_date}`);
  }
  return end;
}

function refuseImmutable(price: VersionedPrice, edit: object): void {
  const found = problems();
  const sent = edit as Readonly<Record<string, unknown>>;
  for (const field of IMMUTABLE_FIELDS) {
    const value = sent[field];
    if (value === undefined || value === null) continue;
    if (normalText(value) !== normalText(price[field])) {
      found.add(field, 'immutable', 'cannot be changed: end this price and make another');
    }
  }
  found.refuse();
}

const normalText = (value: unknown): string => String(value ?? '').toLowerCase();

const otherTerms = ({ price_unit_type }: VersionedPrice) =>
  price_unit_type === 'CUSTOM' ? (['amount', 'tiers'] as const) : UNIT_FIELDS;

/** Without the terms of the other unit kind that a client sends back as they were answered. */
function withoutEcho(price: VersionedPrice, sent: PriceEdit): PriceEdit {
  // A price without terms in a unit is answered with the amount 0.
  const answered = { ...price, price_unit_amount: price.price_unit_amount ?? '0' };
  const echoed = otherTerms(price).filter(
    (field) => sent[field] != null && !isChange(answered, field, sent[field]),
  );
  return { ...sent, ...Object.fromEntries(echoed.map((field) => [field, undefined])) };
}

function refuseOtherUnit(price: VersionedPrice, edit: PriceEdit): void {
  const found = problems();
  const custom = price.price_unit_type === 'CUSTOM';
  for (const field of otherTerms(price)) {
    if (edit[field] === undefined || edit[field] === null) continue;
    const message = custom
      ? 'is computed from the pricing unit: use price_unit_amount or price_unit_tiers'
      : 'is for prices in a pricing unit only';
    found.add(field, 'other_price_unit', message);
  }
  found.refuse();
}

const sentTerms = (edit: PriceEdit): TermField[] =>
  [...PRICING_FIELDS, ...UNIT_FIELDS].filter((field) => (edit[field] ?? null) !== null);

const isChange = (price: VersionedPrice, field: TermField, next: unknown): boolean =>
  canonical(field, next) !== stored(price, field);

type TermField = (typeof PRICING_FIELDS)[number] | (typeof UNIT_FIELDS)[number];

const stored = (price: VersionedPrice, field: TermField): string => canonical(field, price[field]);

/** Terms as comparable text: equal decimals give equal text, and `none` means no bucket. */
function canonical(field: TermField, value: unknown): string {
  if (value === null || value === undefined) return 'null';
  switch (field) {
    case 'amount':
    case 'price_unit_amount':
      return parseDecimal(value as string | number, field).toFixed();
    case 'tiers':
    case 'price_unit_tiers':
      return JSON.stringify(
        (value as readonly TierDefinition[]).map((tier) => [
          String(tier.up_to ?? null),
          canonical('amount', tier.unit_amount),
          canonical('amount', tier.flat_amount ?? '0'),
        ]),
      );
    case 'transform_quantity': {
      const transform = value as TransformQuantity;
      return JSON.stringify([transform.divide_by, transform.round ?? 'up']);
    }
    case 'bucket_size':
      return value === 'none' ? 'null' : String(value);
    case 'billing_model':
    case 'tier_mode':
      return String(value);
    default:
      return field satisfies never;
  }
}

/**
 * Terms of the new version. Terms of the old version are carried over only if the new model uses them. Terms
 * that a new model needs must be sent. Sent terms that do not fit the model are kept, and `validatePrice`
 * refuses them.
 */
function nextDefinition(
  price: VersionedPrice,
  edit: PriceEdit,
  effectiveFrom: string,
): PriceDefinition {
  const custom = price.price_unit_type === 'CUSTOM';
  const terms = nextMoney(price, edit, custom);
  return {
    type: price.type,
    billing_model: terms.model,
    billing_period: price.billing_period,
    billing_period_count: price.billing_period_count,
    invoice_cadence: price.invoice_cadence,
    currency: price.currency,
    price_unit_type: price.price_unit_type,
    price_unit_config: custom
      ? {
          price_unit: price.price_unit ?? '',
          amount: terms.amount,
          price_unit_tiers: terms.tiers,
        }
      : null,
    amount: custom ? null : terms.amount,
    tier_mode: terms.tier_mode,
    tiers: custom ? null : terms.tiers,
    transform_quantity: terms.transform_quantity,
    meter_id: price.meter_id,
    filter_values: price.filter_values,
    bucket_size: edit.bucket_size ?? price.bucket_size ?? null,
    min_quantity: numberOrNull(price.min_quantity),
    trial_period: price.trial_period,
    start_date: effectiveFrom,
    end_date: null,
  };
}

/**
 * Money terms of the model, in the price's own unit. The stored amount 0 of a TIERED price means no amount.
 */
function nextMoney(price: VersionedPrice, edit: PriceEdit, custom: boolean) {
  const model = edit.billing_model ?? price.billing_model;
  const sent = custom
    ? { amount: edit.price_unit_amount, tiers: edit.price_unit_tiers }
    : { amount: edit.amount, tiers: edit.tiers };
  const stored = custom
    ? { amount: price.price_unit_amount, tiers: price.price_unit_tiers }
    : { amount: price.amount, tiers: price.tiers };
  const carry = <Value>(when: boolean, value: Value | null | undefined) =>
    when ? (value ?? null) : null;
  const isTiered = model === 'TIERED' && price.billing_model === 'TIERED';
  const isPlain = model !== 'TIERED' && price.billing_model !== 'TIERED';
  const isPackage = model === 'PACKAGE' && price.billing_model === 'PACKAGE';
  return {
    model,
    amount: sent.amount ?? carry(isPlain, stored.amount),
    tiers: sent.tiers ?? carry(isTiered, tierDefinitions(stored.tiers)),
    tier_mode: edit.tier_mode ?? carry(isTiered, price.tier_mode),
    transform_quantity: edit.transform_quantity ?? carry(isPackage, price.transform_quantity),
  };
}

function tierDefinitions(tiers: readonly TierRecord[] | null | undefined) {
  if (!tiers) return null;
  return tiers.map((tier) => ({ ...tier, up_to: numberOrNull(tier.up_to) }));
}

const numberOrNull = (value: string | number | null | undefined): number | null =>
  value === null || value === undefined ? null : Number(value);
