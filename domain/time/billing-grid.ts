import assert from 'node:assert/strict';
import type { BILLING_PERIODS } from '../../schemas/words.ts';
import { addMonths, DAY_MS, dayNumber, monthNumber, startOfDay, type LocalMs } from './civil.ts';
import { epochMs, isoText, type Instant } from './instant.ts';
import { zoneOf } from './zone.ts';

/** A unit that repeats; ONETIME does not. */
export type RecurringPeriod = Exclude<(typeof BILLING_PERIODS)[number], 'ONETIME'>;
export type BillingCycle = 'anniversary' | 'calendar';

/** What decides where periods begin, named as in the subscription's record. */
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
 * The boundary function B(k) (billing 1.3). Periods are never made by stepping from the
 * previous boundary, which would lose the day: 31 January, 28 February, 28 March.
 */
export interface BillingGrid {
  /**
   * B(k), any whole k: the anchor's date and wall clock in the customer's zone, moved by k × count
   * units. Days are calendar days; the day of the month is clamped, from the anchor's own day each
   * time. B(0) is the anchor.
   */
  boundary(k: number): Instant;
  /** The greatest k with B(k) ≤ `at`. */
  indexAt(at: Instant): number;
  /** The same two in milliseconds, for callers that compare many. */
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
  // A calendar anchor is a midnight, also where that midnight was skipped and it stands at 01:00.
  const isMidnight = rhythm.billing_cycle === 'calendar' && zone.toInstant(midnight) === anchorMs;
  const local = isMidnight ? midnight : anchor;
  const step = stepOf(billing_period, count);

  // An anchor in the second hour of an overlap is itself, and not the earlier instant of its clock time.
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
  /** A k near the wanted one; the zone and the clamping can put it off by one. */
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
