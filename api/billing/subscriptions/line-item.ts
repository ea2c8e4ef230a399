import { NO_COMMITMENT } from '../../../domain/pricing/commitment.ts';
import { decimalText } from '../../../domain/money.ts';
import { lineQuantity } from '../../../domain/pricing/line-quantity.ts';
import { priceTerms as ratingTerms } from '../../../domain/pricing/price.ts';
import type { PriceSelection } from '../../../domain/subscription/select-prices.ts';
import { earlierOf, laterOf } from '../../../domain/time/instant.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { LineItemRow } from '../../../schemas/subscription.ts';
import type { BillingDeps } from '../../deps.ts';
import type { BilledLine } from '../computing/billing-sources.ts';
import { findMeters } from '../../catalog/meters/repository.ts';
import type { PriceRow } from '../../catalog/prices/repository.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import type { Buckets, CommitmentColumns } from './line-commitments.ts';

/** The context of a new subscription's line items. */
export interface LineItemOwner {
  readonly subscription_id: string;
  readonly customer_id: string;
  readonly plan: { readonly id: string; readonly name: string };
  readonly selection: PriceSelection;
  /** The phase of the lines; absent or null means the whole subscription. */
  readonly subscription_phase_id?: string | null;
}

interface LineItemDraft {
  readonly entity: { readonly type: LineItemRow['entity_type']; readonly id: string };
  readonly quantity: string | null | undefined;
  /** Path of the quantity in the request. */
  readonly path: string;
  readonly display_name?: string | null;
  readonly metadata?: Record<string, string> | null;
  readonly start_date?: string | null;
  readonly end_date?: string | null;
  readonly commitment?: CommitmentColumns;
  readonly addon_association_id?: string;
}

/** Builds a line item of the price; writes nothing. */
export function lineItem(
  deps: BillingDeps,
  caller: Caller,
  owner: LineItemOwner,
  price: PriceRow,
  draft: LineItemDraft,
): BilledLine {
  const terms = ratingTerms(price);
  const { start, end: last } = owner.selection;
  // A line of a phase lives in the time of its phase (billing 11).
  const end =
    draft.end_date && owner.subscription_phase_id
      ? earlierOf(draft.end_date, last)
      : (draft.end_date ?? last);
  return {
    ...newRecord(deps, caller, 'subs_line'),
    subscription_id: owner.subscription_id,
    customer_id: owner.customer_id,
    subscription_phase_id: owner.subscription_phase_id ?? null,
    addon_association_id: draft.addon_association_id ?? null,
    entity_type: draft.entity.type,
    entity_id: draft.entity.id,
    price_id: price.id,
    price_type: price.type,
    price_unit: price.price_unit,
    price_unit_id: price.price_unit_id,
    meter_id: price.meter_id,
    meter_display_name: null,
    plan_display_name: draft.entity.type === 'plan' ? owner.plan.name : null,
    display_name: draft.display_name ?? price.display_name ?? owner.plan.name,
    currency: price.currency,
    quantity: decimalText(lineQuantity(terms, draft.quantity, draft.path)),
    billing_period: price.billing_period,
    billing_period_count: price.billing_period_count,
    invoice_cadence: price.invoice_cadence,
    trial_period: price.trial_period,
    start_date: laterOf(draft.start_date ?? start, price.start_date),
    end_date: end === null ? price.end_date : earlierOf(end, price.end_date),
    ...(draft.commitment ?? NO_COMMITMENT),
    metadata: draft.metadata ?? {},
    price,
    terms,
  };
}

/** The buckets of the meters. */
export async function bucketsOf(
  tx: Transaction,
  caller: Caller,
  owners: readonly { readonly meter_id: string | null }[],
): Promise<Buckets> {
  const ids = [...new Set(owners.flatMap(({ meter_id }) => meter_id ?? []))];
  const meters = await findMeters(tx, caller.scope, ids);
  return new Map(meters.map(({ id, aggregation }) => [id, aggregation.bucket_size]));
}

/** The lines with the names of their meters. */
export async function withMeterNames(
  tx: Transaction,
  caller: Caller,
  lines: readonly BilledLine[],
): Promise<BilledLine[]> {
  const meterIds = [...new Set(lines.flatMap(({ meter_id }) => meter_id ?? []))];
  const meters = await findMeters(tx, caller.scope, meterIds);
  const names = new Map(meters.map(({ id, name }) => [id, name]));
  return lines.map((line) => ({
    ...line,
    meter_display_name: names.get(line.meter_id ?? '') ?? null,
  }));
}
