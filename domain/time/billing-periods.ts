import assert from 'node:assert/strict';
import { billingGrid, monthsOf, type BillingGrid, type BillingRhythm } from './billing-grid.ts';
import { civilDate, DAY_MS, dayNumber } from './civil.ts';
import { epochMs, isoText, LAST_INSTANT, type Instant, type Period } from './instant.ts';
import { zoneOf, type Zone } from './zone.ts';

/** The fields of a subscription's record that decide its periods. Callers may pass the record itself. */
export interface BillingSchedule extends BillingRhythm {
  readonly start_date: Instant;
  /** Null means no end. */
  readonly end_date: Instant | null;
  /** In a period that pauses made longer: the anchor before they moved it. */
  readonly anchor_before_pauses?: Instant;
}

/** One period of a subscription, half-open. */
export interface BillingPeriodCell extends Period {
  /**
   * The uncut period of the grid that contains this period: what a full amount pays for, and the
   * denominator of a coefficient. Equal to the period itself unless it is a stub.
   */
  readonly reference: Period;
  /** Cut by the subscription's start or end. */
  readonly is_stub: boolean;
}

/** The period that begins with the subscription. Null when the subscription ends before it starts. */
export function firstPeriod(schedule: BillingSchedule): BillingPeriodCell | null {
  return periodContaining(schedule, schedule.start_date);
}

/**
 * The period that contains an instant (billing 1.4). Null before the subscription's start and
 * at or after its end. The instant may be any number of periods away.
 */
export function periodContaining(schedule: BillingSchedule, at: Instant): BillingPeriodCell | null {
  const clipped = clippedGrid(schedule);
  const found = clipped.cellAt(epochMs(at));
  return found === null ? null : toCell(found);
}

/**
 * The first boundary from `from`, itself a boundary, whose day is not clamped to the end of its month: a grid with
 * this anchor has the boundaries of the schedule. Days and weeks are never clamped.
 */
export function unclampedBoundary(schedule: BillingRhythm, from: Instant): Instant {
  if (monthsOf(schedule.billing_period) === null) return from;
  const grid = billingGrid(schedule);
  const zone = zoneOf(schedule.customer_timezone);
  const dayOf = (at: Instant) => civilDate(dayNumber(zone.toLocal(epochMs(at)))).day;
  const day = dayOf(schedule.billing_anchor);
  const first = grid.indexAt(from);
  for (let k = first; k < first + SEARCHED_BOUNDARIES; k += 1)
    if (dayOf(grid.boundary(k)) === day) return grid.boundary(k);
  return from;
}
/** A year has at least one month with the day; only 29 February is up to eight years away. */
const SEARCHED_BOUNDARIES = 12;

/** The period after one that ends at `period_end`; null when the subscription ends there. */
export function nextPeriod(
  schedule: BillingSchedule,
  period_end: Instant,
): BillingPeriodCell | null {
  return periodContaining(schedule, period_end);
}

/** The period before one that starts at `period_start`; null for the first. */
export function previousPeriod(
  schedule: BillingSchedule,
  period_start: Instant,
): BillingPeriodCell | null {
  return periodContaining(schedule, isoText(epochMs(period_start) - 1));
}

/**
 * The periods that overlap `[from, until)`, oldest first, not cut by those bounds. `limit` is the maximum
 * number of periods, for callers that read pages.
 */
export function billingPeriods(
  schedule: BillingSchedule,
  from: Instant,
  until: Instant,
  limit = Infinity,
): BillingPeriodCell[] {
  const clipped = clippedGrid(schedule);
  const end = epochMs(until);
  const cells: BillingPeriodCell[] = [];
  let at = Math.max(epochMs(from), clipped.start);
  while (at < end && cells.length < limit) {
    const found = clipped.cellAt(at);
    if (found === null) break;
    cells.push(toCell(found));
    at = found.end;
  }
  return cells;
}

/**
 * The end of the `count`-th period; the first is the period that contains `from`. When fewer periods begin
 * before `until`, the end of the last of them; at most the last instant of the calendar. Null when there is no
 * period. Computed directly, not by iteration: the number of periods is unlimited.
 */
export function endOfPeriods(
  schedule: BillingSchedule,
  from: Instant,
  until: Instant,
  count: number,
): Instant | null {
  const clipped = clippedGrid(schedule);
  const end = clipped.endAfter(Math.max(epochMs(from), clipped.start), epochMs(until), count);
  return end === null ? null : isoText(Math.min(end, epochMs(LAST_INSTANT)));
}

interface CellMs {
  readonly start: number;
  readonly end: number;
  readonly referenceStart: number;
  readonly referenceEnd: number;
}

/** The grid cut by the subscription's dates, with the rule of the first period. */
function clippedGrid(schedule: BillingSchedule): {
  readonly start: number;
  cellAt(ms: number): CellMs | null;
  endAfter(ms: number, until: number, count: number): number | null;
} {
  const grid = billingGrid(schedule);
  const start = epochMs(schedule.start_date);
  const end = schedule.end_date === null ? Infinity : epochMs(schedule.end_date);
  const second = secondBoundary(grid, start, schedule.customer_timezone);
  const firstOfGrid = grid.boundaryMs(second - 1);
  // A first period some hours longer than its cell counts as full and is its own reference.
  const firstReference = firstOfGrid > start ? start : firstOfGrid;
  const indexAt = (ms: number): number => Math.max(grid.indexAtMs(ms), second - 1);

  return {
    start,
    endAfter(ms, until, count) {
      const last = Math.min(until, end) - 1;
      if (ms < start || ms > last || count < 1) return null;
      const [first, beyond] = [indexAt(ms), indexAt(last) + 1];
      const counted = Math.min(first + count, beyond);
      const zone = zoneOf(schedule.customer_timezone);
      const index = counted + periodsWithoutTime(grid, zone, first, counted);
      return Math.min(grid.boundaryMs(Math.min(index, beyond)), end);
    },
    cellAt(ms) {
      if (ms < start || ms >= end) return null;
      const k = grid.indexAtMs(ms);
      const isFirst = k < second;
      const referenceStart = isFirst ? firstReference : grid.boundaryMs(k);
      const referenceEnd = grid.boundaryMs(isFirst ? second : k + 1);
      const cell = {
        start: isFirst ? start : referenceStart,
        end: Math.min(referenceEnd, end),
        referenceStart,
        referenceEnd,
      };
      assert(cell.start <= ms && ms < cell.end, `no period holds ${ms}`);
      return cell;
    },
  };
}

/** More than all other changes of a zone's offset together, summer time included. */
const LESSER_CHANGE_MS = 4 * 3_600_000;

/**
 * The number of k from `first` to before `last` with B(k) = B(k + 1): the zone leaves out the local day that is the
 * period. It happens when a zone moves across the date line, as Samoa did on 30 December 2011; none has done it twice
 * since 1970.
 */
function periodsWithoutTime(grid: BillingGrid, zone: Zone, first: number, last: number): number {
  const [from, to] = [grid.boundaryMs(first), grid.boundaryMs(last)];
  const isLeftOut = (after: number, before: number): boolean =>
    zone.offsetAt(after) - zone.offsetAt(before) >= DAY_MS - LESSER_CHANGE_MS;
  if (!isLeftOut(to, from)) return 0;
  let change = zone.changeWithin(from, to);
  while (change !== null && !isLeftOut(change, change - 1))
    change = zone.changeWithin(from, change - 1);
  if (change === null) return 0;
  const near = grid.indexAtMs(change);
  const indices = [near - 2, near - 1, near, near + 1, near + 2];
  return indices.filter(
    (k) => k >= first && k < last && grid.boundaryMs(k) === grid.boundaryMs(k + 1),
  ).length;
}
/**
 * k0: the boundary at which the second period begins. The smallest k with B(k) > start, or the next k
 * when B(k) is on the start's own local date: an anchor later that day must not create a period of
 * hours (billing 1.4).
 */
function secondBoundary(grid: BillingGrid, start: number, timezone: string): number {
  const k = grid.indexAtMs(start);
  if (grid.boundaryMs(k) === start) return k + 1;
  const zone = zoneOf(timezone);
  const sameDate =
    dayNumber(zone.toLocal(grid.boundaryMs(k + 1))) === dayNumber(zone.toLocal(start));
  return sameDate ? k + 2 : k + 1;
}

function toCell(cell: CellMs): BillingPeriodCell {
  const start = isoText(cell.start);
  const end = isoText(cell.end);
  const is_stub = cell.start !== cell.referenceStart || cell.end !== cell.referenceEnd;
  const reference = is_stub
    ? { start: isoText(cell.referenceStart), end: isoText(cell.referenceEnd) }
    : { start, end };
  return { start, end, reference, is_stub };
}
