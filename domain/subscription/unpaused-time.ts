import { billingGrid, monthsOf, type BillingGrid } from '../time/billing-grid.ts';
import { epochMs, isoText, type Instant } from '../time/instant.ts';
import { pausedMs, type PausedTime } from '../time/paused-cells.ts';
import type { Period } from '../time/instant.ts';
import { longTermSchedule, type ScheduledSubscription } from './schedule.ts';

/**
 * The time of a subscription as it would be without its pauses. Terms of commitments are counted in it, so that a term
 * has as many periods as it has without pauses, however long they are (billing 6.4, 12.4).
 */
export interface UnpausedTime {
  /** When something would be without the pauses before it. The starts of periods fall on starts of periods. */
  of(at: Instant): Instant;
  /** The instant of which `of` answers this one; of the two sides of a pause, the end. */
  back(at: Instant): Instant;
}

const UNMOVED: UnpausedTime = { of: (at) => at, back: (at) => at };

/**
 * A pause of the anniversary cycle moves the anchor, and the boundaries after it are counted on from the one that it
 * moved; on a calendar, the periods that are paused from their start to their end do not count. Pauses are in order of
 * time. `until`: pauses and plan changes from then on are left out; null: none is.
 */
export function unpausedTime(
  subscription: ScheduledSubscription,
  pauses: readonly PausedTime[],
  until: Instant | null = null,
): UnpausedTime {
  const isKnown = (start: Instant) => until === null || epochMs(start) < epochMs(until);
  const ended = pauses.flatMap(({ start, end }) =>
    end !== null && isKnown(start) ? [{ start, end }] : [],
  );
  if (ended.length === 0) return UNMOVED;
  const delays =
    subscription.billing_cycle === 'calendar'
      ? calendarDelays(subscription, ended)
      : anchorDelays(subscription, pauses).filter(({ began }) => isKnown(isoText(began)));
  if (delays.length === 0) return UNMOVED;
  const grids = gridsOf(subscription, delays);
  const all = delays.map((delay, index) => ({
    ...delay,
    before: grids[index]!,
    after: grids[index + 1]!,
  }));
  return {
    of: (at) => isoText(all.reduceRight((time, delay) => undelayed(delay, time), epochMs(at))),
    back: (at) => isoText(all.reduce((time, delay) => delayed(delay, time), epochMs(at))),
  };
}

/**
 * Moves instants after the start of a pause, so that each keeps its place among the periods (billing 12.4). `before`:
 * the paused subscription. `after`: the resumed one. `earlier`: its earlier pauses, in order of time.
 */
export function movedByPause(
  { before, after }: Readonly<Record<'before' | 'after', ScheduledSubscription>>,
  pause: Period,
  earlier: readonly PausedTime[],
): (at: Instant) => Instant {
  const [was, is] = [unpausedTime(before, earlier), unpausedTime(after, [...earlier, pause])];
  return (at) => is.back(was.of(at));
}

/** What moved the boundaries of a subscription. Milliseconds. */
interface Delay {
  /** The start of the period in which the boundaries move. */
  readonly from: number;
  /** The first moved boundary, and the boundary that it was before. */
  readonly boundary: number;
  readonly was: number;
  /** Where the period began before: later than `from` for a pause from the end of a period. */
  readonly began: number;
  /** The pauses in the period. */
  readonly pauses: readonly Period[];
  /** Anchor of the boundaries after it. */
  readonly anchor: Instant;
}

interface GriddedDelay extends Delay {
  readonly before: BillingGrid;
  readonly after: BillingGrid;
}

function undelayed(
  { from, boundary, was, began, pauses, before, after }: GriddedDelay,
  at: number,
) {
  // Within the pause itself, where it began.
  if (at < from) return Math.min(at, began);
  if (at < boundary)
    return began + (at - from) - pausedMs({ start: isoText(from), end: isoText(at) }, pauses);
  return onOtherGrid(at, { from: after, at: boundary }, { from: before, at: was });
}

function delayed({ from, boundary, was, began, pauses, before, after }: GriddedDelay, at: number) {
  if (at < began) return at;
  if (at >= was) return onOtherGrid(at, { from: before, at: was }, { from: after, at: boundary });
  return pauses.reduce(
    (time, { start, end }) =>
      time >= epochMs(start) ? time + epochMs(end) - epochMs(start) : time,
    from + (at - began),
  );
}

interface GridPlace {
  readonly from: BillingGrid;
  /** A boundary of the grid. */
  readonly at: number;
}

/** The same place in as many cells after a boundary of another grid. */
function onOtherGrid(at: number, here: GridPlace, there: GridPlace): number {
  const cell = here.from.indexAtMs(at);
  const other = there.from.indexAtMs(there.at) + cell - here.from.indexAtMs(here.at);
  const into = at - here.from.boundaryMs(cell);
  return Math.min(there.from.boundaryMs(other) + into, there.from.boundaryMs(other + 1));
}

/** Cells are months, so that they hold the cells of every price; days and weeks are their own. */
function cellGrid(subscription: ScheduledSubscription, billing_anchor: Instant): BillingGrid {
  const { billing_period } = subscription;
  return billingGrid({
    ...subscription,
    billing_anchor,
    ...(monthsOf(billing_period) === null
      ? {}
      : ({ billing_period: 'MONTHLY', billing_period_count: 1 } as const)),
  });
}

/** The cells before each delay, and those after the last one. */
function gridsOf(subscription: ScheduledSubscription, delays: readonly Delay[]): BillingGrid[] {
  const first = cellGrid(subscription, longTermSchedule(subscription).billing_anchor);
  return [first, ...delays.map(({ anchor }) => cellGrid(subscription, anchor))];
}

function anchorDelays(subscription: ScheduledSubscription, all: readonly PausedTime[]): Delay[] {
  const pauses = all.flatMap(({ start, end }) => (end === null ? [] : [{ start, end }]));
  const restarts = subscription.earlier_plans.filter((plan) => plan.restarts);
  const moves = [
    ...restarts.map((move) => ({ ...move, isRestart: true })),
    ...subscription.earlier_anchors.map((move) => ({ ...move, isRestart: false })),
  ].sort((left, right) => (left.until < right.until ? -1 : 1));
  return moves.map(({ billing_anchor, until, isRestart }, index): Delay => {
    const anchor = moves[index + 1]?.billing_anchor ?? subscription.billing_anchor;
    const from = epochMs(until);
    if (isRestart) return { from, boundary: from, was: from, began: from, pauses: [], anchor };
    // A pause from the end of a period: the new period begins where it ends.
    const began = epochMs(pauses.find(({ end }) => end === until)?.start ?? until);
    const boundary = Math.max(epochMs(anchor), from);
    const own = billingGrid({ ...subscription, billing_anchor });
    const was = boundary === from ? began : own.boundaryMs(own.indexAtMs(began) + 1);
    const inside = pauses.filter(({ start }) => start >= until && epochMs(start) < boundary);
    return { from, boundary, was, began, pauses: inside, anchor };
  });
}

function calendarDelays(subscription: ScheduledSubscription, pauses: readonly Period[]): Delay[] {
  const grid = billingGrid(subscription);
  const anchor = subscription.billing_anchor;
  return pauses.flatMap(({ start, end }): Delay[] => {
    const last = grid.boundaryMs(grid.indexAt(end));
    const index = grid.indexAt(start);
    const first = grid.boundary(index) === start ? epochMs(start) : grid.boundaryMs(index + 1);
    return first < last
      ? [{ from: last, boundary: last, was: first, began: first, pauses: [], anchor }]
      : [];
  });
}
