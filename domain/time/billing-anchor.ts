import { monthsOf, type BillingCycle, type RecurringPeriod } from './billing-grid.ts';
import {
  DAY_MS,
  monthNumber,
  startOfDay,
  startOfMonth,
  startOfWeek,
  type LocalMs,
} from './civil.ts';
import { epochMs, isoText, type Instant } from './instant.ts';
import { zoneOf } from './zone.ts';

/**
 * The anchor of a new subscription (billing 1.2). Anniversary: its start, or the requested
 * anchor. Calendar: the start itself when it is on a boundary of the unit, so that there is no stub;
 * otherwise the next boundary, at 00:00 in the customer's zone.
 */
export function billingAnchor(subscription: {
  readonly start_date: Instant;
  readonly billing_cycle: BillingCycle;
  readonly billing_period: RecurringPeriod;
  readonly customer_timezone: string;
  /** Only with anniversary; the caller refuses it with calendar. */
  readonly billing_anchor?: Instant | null;
}): Instant {
  const { start_date, billing_period, customer_timezone } = subscription;
  return subscription.billing_cycle === 'calendar'
    ? calendarAnchor(start_date, billing_period, customer_timezone)
    : (subscription.billing_anchor ?? start_date);
}

/**
 * The anchor of the paid periods after a trial (billing 1.6). An anniversary subscription
 * restarts at the end of its trial, so that its first paid period is a full one. A calendar
 * subscription keeps its grid and has a stub from there.
 */
export function anchorAfterTrial(
  subscription: { readonly billing_cycle: BillingCycle; readonly billing_anchor: Instant },
  trialEnd: Instant,
): Instant {
  return subscription.billing_cycle === 'calendar' ? subscription.billing_anchor : trialEnd;
}

/**
 * The boundary of the calendar unit at or after `start`: a day, a Monday, the first of a month, quarter, half-year or
 * year.
 */
export function calendarAnchor(start: Instant, period: RecurringPeriod, timezone: string): Instant {
  const zone = zoneOf(timezone);
  const ms = epochMs(start);
  const [current, next] = calendarUnit(zone.toLocal(ms), period);
  const anchor = zone.toInstant(current);
  return isoText(anchor >= ms ? anchor : zone.toInstant(next));
}

/** Start of the calendar unit that contains a local time, and start of the next unit. */
function calendarUnit(local: LocalMs, period: RecurringPeriod): [LocalMs, LocalMs] {
  const months = monthsOf(period);
  if (months !== null) {
    const month = monthNumber(local);
    const first = month - (month % months);
    return [startOfMonth(first), startOfMonth(first + months)];
  }
  if (period === 'WEEKLY') {
    const monday = startOfWeek(local);
    return [monday, monday + 7 * DAY_MS];
  }
  const midnight = startOfDay(local);
  return [midnight, midnight + DAY_MS];
}
