import assert from 'node:assert/strict';
import type { BILLING_PERIODS } from '../../schemas/words.ts';
import { addMonths, DAY_MS, dayNumber, monthNumber, startOfDay, type LocalMs } from './civil.ts';
import { epochMs, isoText, type Instant } from './instant.ts';
import { zoneOf } from './zone.ts';

/** A repeating unit; ONETIME does not repeat. */
export type RecurringPeriod = Exclude<(typeof BILLING_PERIODS)[number], 'ONETIME'>;
export type BillingCycle = 'anniversary' | 'calendar';

/** Fields that decide where periods begin, named as in the subscription's record. */
export interface BillingRhythm {
  readonly billing_anchor: Instant;
  readonly billing_cycle: BillingCycle;
  readonly billing_period: RecurringPeriod;
  /** At least 1. */
  readonly billing_period_count: number;
  /** IANA name, frozen on the subscription; empty = UTC. */
  readonly customer_timezone: string;
}

/**
 * The boundary function B(k) (billing 1.3). Periods are never derived from the previous
 * boundary, because that loses the anchor's day: 31 January, 28 February, 28 March.
 */
export interface BillingGrid {
  /**
   * B(k) for any whole k: the anchor's date and wall clock in the customer's zone, moved by k × count
   * units. Days are calendar days. The day of the month is clamped, each time from the anchor's own day.
   * B(0) is the anchor.
   */
  boundary(k: number): Instant;
  /** The greatest k with B(k) ≤ `at`. */
  indexAt(at: Instant): number;
  /** `boundary` and `indexAt` in milliseconds, for callers that compare many instants. */
  boundaryMs(k: number): number;
  indexAtMs(ms: number): number;
}

export function billingGrid(rhythm: BillingRhythm): BillingGrid {
  const { billing_period, billing_period_count: count } = rhythm;
  assert(Number.isInteger(count) && count >= 1, `billing_period_count ${count}`);
  const zone = zoneOf(rhythm.customer_timezone);
  const anchorMs = epochMs(rhythm.billing_anchor);
  const anchor = zone.toLocal(anchorMs);
  const midnight = startOfDay(anchor);
  // A calendar anchor is a midnight, even when the zone skips that midnight and the anchor is at 01:00.
  const isMidnight = rhythm.billing_cycle === 'calendar' && zone.toInstant(midnight) === anchorMs;
  const local = isMidnight ? midnight : anchor;
  const step = stepOf(billing_period, count);

  // An anchor in the second hour of an overlap keeps its own instant, not the earlier instant of that clock
  // time.
  const boundaryMs = (k: number): number =>
    k === 0 ? anchorMs : zone.toInstant(step.from(local, k));
  const indexAtMs = (ms: number): number => {
    let k = step.estimate(local, zone.toLocal(ms));
    while (boundaryMs(k) > ms) k -= 1;
    while (boundaryMs(k + 1) <= ms) k += 1;
    return k;
  };
  return {
    boundary: (k) => isoText(boundaryMs(k)),
    indexAt: (at) => indexAtMs(epochMs(at)),
    boundaryMs,
    indexAtMs,
  };
}

/** Months of the unit, null for DAILY and WEEKLY (billing 1.1). */
export function monthsOf(period: RecurringPeriod): number | null {
  switch (period) {
    case 'MONTHLY':
      return 1;
    case 'QUARTERLY':
      return 3;
    case 'HALF_YEARLY':
      return 6;
    case 'ANNUAL':
      return 12;
    case 'DAILY':
    case 'WEEKLY':
      return null;
    default:
      return period satisfies never;
  }
}

interface Step {
  from(anchor: LocalMs, k: number): LocalMs;
  /** A k near the result; the zone and the clamping can make it wrong by one. */
  estimate(anchor: LocalMs, local: LocalMs): number;
}

function stepOf(period: RecurringPeriod, count: number): Step {
  const months = monthsOf(period);
  if (months !== null) {
    const length = months * count;
    return {
      from: (anchor, k) => addMonths(anchor, k * length),
      estimate: (anchor, local) => Math.floor((monthNumber(local) - monthNumber(anchor)) / length),
    };
  }
  const length = (period === 'WEEKLY' ? 7 : 1) * count;
  return {
    from: (anchor, k) => anchor + k * length * DAY_MS,
    estimate: (anchor, local) => Math.floor((dayNumber(local) - dayNumber(anchor)) / length),
  };
}
