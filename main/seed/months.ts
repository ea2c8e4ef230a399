/** A calendar month in UTC, or its part before the end of the data; half-open, in milliseconds. */
export interface Month {
  readonly start: number;
  readonly end: number;
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
/** Whole months before the month that `until` lies in. */
export const WHOLE_MONTHS = 3;

/** Three whole months, and the part of the month of `until` that lies before it. */
export function monthsUntil(until: number): Month[] {
  const date = new Date(until);
  const startOf = (offset: number): number =>
    Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset, 1);
  return Array.from({ length: WHOLE_MONTHS + 1 }, (_, index) => {
    const offset = index - WHOLE_MONTHS;
    return { start: startOf(offset), end: Math.min(startOf(offset + 1), until) };
  });
}

/** In a month younger than this, the invoices of the month before may not be issued yet. */
const MONTH_AGE_MIN_MS = 26 * HOUR_MS;

/** `until` in whole hours, late enough in a month that the month before it is invoiced. */
export function roundedUntil(until: number): number {
  const date = new Date(until);
  const month = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  const hour = Math.floor(until / HOUR_MS) * HOUR_MS;
  return hour - month < MONTH_AGE_MIN_MS ? month - HOUR_MS : hour;
}

export const iso = (ms: number): string => new Date(ms).toISOString();
