import { Temporal } from 'temporal-polyfill';
import type { TransactionRow } from './wallet-transaction-repository.ts';

const UNITS = { DAY: 'days', WEEK: 'weeks', MONTH: 'months', YEAR: 'years' } as const;

/** Lifetime of bonus credits, counted from the time they are added. */
export interface BonusLifetime {
  readonly expiration_duration?: number | null | undefined;
  readonly expiration_duration_unit?: keyof typeof UNITS | null | undefined;
}

/** The end of the lifetime that starts at `at`, by the UTC calendar; null without a lifetime. */
export function lifetimeEnd(lifetime: BonusLifetime, at: string): string | null {
  const { expiration_duration: count, expiration_duration_unit: unit } = lifetime;
  if (count == null || unit == null) return null;
  const start = Temporal.Instant.from(at).toZonedDateTimeISO('UTC');
  const end = start.add({ [UNITS[unit]]: count });
  return new Date(end.epochMilliseconds).toISOString();
}

/** A pending bonus keeps its lifetime until it completes (money 2.11.10). */
export const lifetimeMetadata = (lifetime: BonusLifetime): Record<string, string> =>
  lifetime.expiration_duration == null || lifetime.expiration_duration_unit == null
    ? {}
    : {
        expiration_duration: String(lifetime.expiration_duration),
        expiration_duration_unit: lifetime.expiration_duration_unit,
      };

/** The expiry of a pending row that completes at `at`. */
export function bonusExpiry(row: TransactionRow, at: string): string | null {
  const { expiration_duration: count, expiration_duration_unit: unit } = row.metadata;
  const isBonus = row.transaction_reason === 'PURCHASED_CREDIT_BONUS';
  if (!isBonus || row.expiry_date !== null || count === undefined || !isUnit(unit))
    return row.expiry_date;
  return lifetimeEnd({ expiration_duration: Number(count), expiration_duration_unit: unit }, at);
}

const isUnit = (unit: string | undefined): unit is keyof typeof UNITS =>
  unit !== undefined && Object.hasOwn(UNITS, unit);
