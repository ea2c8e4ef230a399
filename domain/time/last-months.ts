import { Temporal } from 'temporal-polyfill';
import { isoText, type Instant, type Period } from './instant.ts';

/** The last `count` calendar months in UTC, oldest first; the last one is the current month up to `at`. */
export function lastMonths(at: Instant, count: number): Period[] {
  const now = Temporal.Instant.from(at).toZonedDateTimeISO('UTC');
  const first = now.with({ day: 1 }).startOfDay();
  const startOf = (monthsBack: number): Instant =>
    isoText(first.subtract({ months: monthsBack }).epochMilliseconds);
  return Array.from({ length: count }, (_, index) => {
    const back = count - 1 - index;
    return { start: startOf(back), end: back === 0 ? at : startOf(back - 1) };
  });
}
