import type { BILLING_PERIODS } from '../../schemas/words.ts';
import { monthsOf } from '../time/billing-grid.ts';

/** Length of a billing period, charge period or commitment term: a unit and a count. */
export interface Cadence {
  readonly billing_period: BillingPeriod;
  readonly billing_period_count: number;
}

export type BillingPeriod = (typeof BILLING_PERIODS)[number];

/** Months of the cadence. Null for DAILY, WEEKLY and ONETIME (billing 1.1). */
export function effectiveMonths(cadence: Cadence): number | null {
  if (cadence.billing_period === 'ONETIME') return null;
  const months = monthsOf(cadence.billing_period);
  return months === null ? null : months * cadence.billing_period_count;
}

export function sameCadence(left: Cadence, right: Cadence): boolean {
  return (
    left.billing_period === right.billing_period &&
    left.billing_period_count === right.billing_period_count
  );
}

/** Whether periods of the two cadences are equally long: the same unit and count, or the same months. */
export function equallyLong(left: Cadence, right: Cadence): boolean {
  const months = effectiveMonths(left);
  return sameCadence(left, right) || (months !== null && months === effectiveMonths(right));
}

/**
 * Whether a whole number of `shorter` periods fills one `longer` period: same unit and count, or months that
 * divide evenly. DAILY and WEEKLY divide only themselves (billing 3.2).
 */
export function dividesEvenly(shorter: Cadence, longer: Cadence): boolean {
  if (sameCadence(shorter, longer)) return true;
  const part = effectiveMonths(shorter);
  const whole = effectiveMonths(longer);
  return part !== null && whole !== null && whole % part === 0;
}

/**
 * Negative when `left` is shorter, 0 when both are equally long. Compares by mean length: 7 days in a week, a
 * twelfth of 365.2425 days in a month.
 */
export function compareLength(left: Cadence, right: Cadence): number {
  return equallyLong(left, right) ? 0 : meanDays(left) - meanDays(right);
}

function meanDays(cadence: Cadence): number {
  const months = effectiveMonths(cadence);
  if (months !== null) return (months * 365.2425) / 12;
  return (cadence.billing_period === 'WEEKLY' ? 7 : 1) * cadence.billing_period_count;
}
