import { decimal } from '../../../domain/money.ts';
import type { UsageRow } from '../../../domain/metering/usage.ts';
import { priceTerms, type PriceRecord, type PriceTerms } from '../../../domain/pricing/price.ts';
import type { BillingSchedule } from '../../../domain/time/billing-periods.ts';
import { epochMs, isoText, type Period } from '../../../domain/time/instant.ts';
import type { JsonObject } from '../compare.ts';

/** The price of a case: billing_model, currency, then amount, tiers or transform_quantity. */
export function caseTerms(given: JsonObject): PriceTerms {
  const record: PriceRecord = {
    id: 'price',
    type: 'USAGE',
    amount: null,
    ...(given as object as Pick<PriceRecord, 'billing_model' | 'currency'>),
  };
  return priceTerms(record);
}

/** Usage of a whole period, as one answer without windows. */
export const wholeUsage = (quantity: string): readonly UsageRow[] => [
  { group: [], window_start: null, quantity, event_count: 1 },
];

/** A cell that nothing cuts. The instants do not matter to the case. */
export const wholeCell = (period: Period = ANY_PERIOD) => ({
  reference: period,
  cell: period,
  service: period,
});

export const ANY_PERIOD: Period = {
  start: '2026-01-01T00:00:00.000Z',
  end: '2026-02-01T00:00:00.000Z',
};

/** A subscription whose own dates do not matter to the case. */
export const ANY_SCHEDULE: BillingSchedule = {
  start_date: ANY_PERIOD.start,
  end_date: null,
  billing_anchor: ANY_PERIOD.start,
  billing_cycle: 'anniversary',
  billing_period: 'MONTHLY',
  billing_period_count: 1,
  customer_timezone: 'UTC',
};

export const canonicalInstant = (instant: unknown): string => isoText(epochMs(String(instant)));

export const canonicalPeriod = (start: unknown, end: unknown): Period => ({
  start: canonicalInstant(start),
  end: canonicalInstant(end),
});

export const textOf = (value: unknown): string => decimal(String(value)).toFixed();
