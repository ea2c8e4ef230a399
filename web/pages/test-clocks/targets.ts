import { addMonths } from '../../../domain/time/civil.ts';

/** Ways to say how far a clock goes, with the texts of their choices. */
export const STEPS = [
  ['month', 'One month further'],
  ['first', 'To the first day of the next month'],
  ['day', 'One day further'],
  ['week', 'One week further'],
  ['year', 'One year further'],
  ['other', 'To another day'],
] as const;
export type Step = (typeof STEPS)[number][0];

/** The time that a clock shows after the step, in UTC; null while no day is chosen. */
export function targetOf(now: string, step: Step, day: string): string | null {
  const target = new Date(now);
  switch (step) {
    // A monthly period that begins now has ended then.
    case 'month':
      return new Date(addMonths(target.getTime(), 1)).toISOString();
    case 'first':
      return new Date(Date.UTC(target.getUTCFullYear(), target.getUTCMonth() + 1)).toISOString();
    case 'day':
      target.setUTCDate(target.getUTCDate() + 1);
      return target.toISOString();
    case 'week':
      target.setUTCDate(target.getUTCDate() + 7);
      return target.toISOString();
    case 'year':
      target.setUTCFullYear(target.getUTCFullYear() + 1);
      return target.toISOString();
    case 'other':
      return /^\d{4}-\d{2}-\d{2}$/.test(day) ? `${day}T00:00:00.000Z` : null;
  }
}
