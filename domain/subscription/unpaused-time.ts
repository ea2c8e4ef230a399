import { billingGrid, monthsOf, type BillingGrid } from '../time/billing-grid.ts';
import { epochMs, isoText, type Instant } from '../time/instant.ts';
import { pausedMs, type PausedTime } from '../time/paused-cells.ts';
import type { Period } from '../time/instant.ts';
import { longTermSchedule, movesOf, type ScheduledSubscription } from './schedule.ts';

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
 * moved; on a calendar, the periods that are paused from their start to their end do not count. A plan change that
 * restarts the periods is as far into its period as it would be without the pauses, and the boundaries after it are
 * counted on from there; without a pause before it, it is where it is. Pauses are in order of time. `until`: pauses and
 * plan changes from then on are left out; null: none is.
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
  const moves =
    subscription.billing_cycle === 'calendar'
      ? calendarDelays(subscription, ended)
      : anchorMoves(subscription, pauses).filter(({ began }) => isKnown(isoText(began)));
  const parts = partsOf(subscription, moves);
  const partAt = (time: number, side: 'start' | 'was') =>
    parts.findLast((part) => part[side] <= time)!;
  return {
    of: (at) => isoText(unmoved(partAt(epochMs(at), 'start'), epochMs(at))),
    back: (at) => isoText(moved(partAt(epochMs(at), 'was'), epochMs(at))),
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

/** What moved the boundaries of a subscription: a pause, or a plan change that restarted the periods. Milliseconds. */
interface Move {
  /** The start of the period in which the boundaries move. */
  readonly from: number;
  /** Where the period began before: later than `from` for a pause from the end of a period. */
  readonly began: number;
  /** Anchor of the boundaries after it. */
  readonly anchor: Instant;
}

/** What pauses moved. */
interface Delay extends Move {
  /** The first moved boundary, and the boundary that it was before. */
  readonly boundary: number;
  readonly was: number;
  /** The pauses in the period. */
  readonly pauses: readonly Period[];
}

interface GriddedDelay extends Delay {
  readonly before: BillingGrid;
  readonly after: BillingGrid;
}

/** The time from one restart of the periods to the next. Milliseconds; the first part has no start. */
interface Part {
  readonly start: number;
  /** When it would start without the pauses before it. */
  readonly was: number;
  /** The cells from its start, before its own pauses, and those that they would be. */
  readonly cells: BillingGrid;
  readonly wereCells: BillingGrid;
  /** In order of time. */
  readonly delays: readonly GriddedDelay[];
}

const isDelay = (move: Move): move is Delay => 'boundary' in move;

/** `moves` are in order of time. */
function partsOf(subscription: ScheduledSubscription, moves: readonly Move[]): readonly Part[] {
  const grids = gridsOf(subscription, moves);
  const delaysIn = (from: number, to: number) =>
    moves.slice(from, to).flatMap((move, index) => {
      const [before, after] = [grids[from + index]!, grids[from + index + 1]!];
      return isDelay(move) ? [{ ...move, before, after }] : [];
    });
  const restarts = [...moves.keys()].filter((index) => !isDelay(moves[index]!));
  const first = {
    ...{ start: -Infinity, was: -Infinity, cells: grids[0]!, wereCells: grids[0]! },
    delays: delaysIn(0, restarts[0] ?? moves.length),
  };
  return restarts.reduce<readonly Part[]>(
    (parts, index, number) => {
      const { from: start } = moves[index]!;
      const was = unmoved(parts.at(-1)!, start);
      const [cells, wereCells] = [grids[index + 1]!, cellGrid(subscription, isoText(was))];
      const delays = delaysIn(index + 1, restarts[number + 1] ?? moves.length);
      return [...parts, { start, was, cells, wereCells, delays }];
    },
    [first],
  );
}

/** When an instant of a part would be without pauses. */
function unmoved({ start, was, cells, wereCells, delays }: Part, at: number): number {
  const time = delays.reduceRight((later, delay) => undelayed(delay, later), at);
  return start === was
    ? time
    : onOtherGrid(time, { from: cells, at: start }, { from: wereCells, at: was });
}

function moved({ start, was, cells, wereCells, delays }: Part, at: number): number {
  const time =
    start === was ? at : onOtherGrid(at, { from: wereCells, at: was }, { from: cells, at: start });
  return delays.reduce((earlier, delay) => delayed(delay, earlier), time);
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

/** The cells before each move, and those after the last one. */
function gridsOf(subscription: ScheduledSubscription, moves: readonly Move[]): BillingGrid[] {
  const first = cellGrid(subscription, longTermSchedule(subscription).billing_anchor);
  return [first, ...moves.map(({ anchor }) => cellGrid(subscription, anchor))];
}

function anchorMoves(
  subscription: ScheduledSubscription,
  all: readonly PausedTime[],
): (Move | Delay)[] {
  const pauses = all.flatMap(({ start, end }) => (end === null ? [] : [{ start, end }]));
  const moves = movesOf(subscription);
  return moves.map(({ billing_anchor, until, isRestart }, index): Move | Delay => {
    const anchor = moves[index + 1]?.billing_anchor ?? subscription.billing_anchor;
    const from = epochMs(until);
    if (isRestart) return { from, began: from, anchor };
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
