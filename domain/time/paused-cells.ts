import { periodContaining, type BillingSchedule } from './billing-periods.ts';
import { chargeCells, type Cell } from './charge-cells.ts';
import { earlierOf, epochMs, isoText, laterOf, type Instant, type Period } from './instant.ts';

/** A pause that has begun; the end is null while it lasts. */
export interface PausedTime {
  readonly start: Instant;
  readonly end: Instant | null;
}

/** Pauses inside of a period, as far as they tell what a part of it is worth. */
export interface IdleTime {
  readonly times: readonly Period[];
  /** Whether the period is longer by them (anniversary), or the grid did not move (calendar). */
  readonly lengthens: boolean;
}

/** The parts of a period in which the subscription was not paused. */
export function outsidePauses(period: Period, pauses: readonly PausedTime[]): Period[] {
  const pieces: Period[] = [];
  let from = period.start;
  for (const { start, end } of pauses) {
    if (start >= period.end || (end !== null && end <= from)) continue;
    if (start > from) pieces.push({ start: from, end: start });
    if (end === null || end >= period.end) return pieces;
    from = laterOf(from, end);
  }
  return [...pieces, { start: from, end: period.end }];
}

/** The pauses within a period that have ended in it. */
export const pausesWithin = (period: Period, pauses: readonly PausedTime[]): Period[] =>
  pauses.flatMap(({ start, end }) =>
    end !== null && start >= period.start && start < period.end && end <= period.end
      ? [{ start, end }]
      : [],
  );

/** The pause that has begun in a period and lasts at its end; null without one. */
export const pauseAtEnd = (
  { end: until }: Period,
  pauses: readonly PausedTime[],
): PausedTime | null =>
  pauses.find(({ start, end }) => start < until && (end === null || end > until)) ?? null;

/** Whether one pause covers the whole period. */
export const isPausedThroughout = (period: Period, pauses: readonly PausedTime[]): boolean =>
  pauses.some(({ start, end }) => start <= period.start && (end === null || end >= period.end));

/** The times in which all of several subscriptions were paused, from the pauses of each in order of time. */
export function commonPauses(
  pausesOfEach: readonly (readonly PausedTime[])[],
): readonly PausedTime[] {
  const [first = [], ...others] = pausesOfEach;
  return others.reduce<readonly PausedTime[]>(
    (common, pauses) =>
      common.flatMap((left) =>
        pauses.flatMap((right): PausedTime[] => {
          const start = laterOf(left.start, right.start);
          const end = left.end === null ? right.end : earlierOf(left.end, right.end);
          return end === null || start < end ? [{ start, end }] : [];
        }),
      ),
    first,
  );
}

/** Milliseconds of a time that pauses take. */
export const pausedMs = ({ start, end }: Period, pauses: readonly Period[]): number =>
  pauses.reduce((sum, pause) => {
    const from = Math.max(epochMs(start), epochMs(pause.start));
    const until = Math.min(epochMs(end), epochMs(pause.end));
    return sum + Math.max(until - from, 0);
  }, 0);

/** What the pauses in a cell are to it; absent without one. */
export function idleIn(
  { billing_cycle }: Pick<BillingSchedule, 'billing_cycle'>,
  reference: Period,
  pauses: readonly PausedTime[],
): IdleTime | undefined {
  const times = pausesWithin(reference, pauses);
  return times.length === 0 ? undefined : { times, lengthens: billing_cycle === 'anniversary' };
}

/**
 * The charge cells of a billing period with its pauses (billing 12.4). A period of the anniversary cycle is longer by
 * them: its cells are computed for the period without its pauses, on the grid that it began with; then every time
 * after a pause is moved later by the length of that pause. A calendar does not move.
 */
export function pausedCells(
  schedule: BillingSchedule,
  cadence: Parameters<typeof chargeCells>[1],
  period: Period,
  pauses: readonly PausedTime[],
): Cell[] {
  const inside = pausesWithin(period, pauses);
  if (inside.length === 0 || schedule.billing_cycle === 'calendar')
    return chargeCells(schedule, cadence, period);
  const lost = pausedMs(period, inside);
  const before = (at: Instant) => isoText(epochMs(at) - lost);
  const shorter = { start: period.start, end: before(period.end) };
  const original = {
    ...schedule,
    billing_anchor:
      anchorOfGridAt(schedule, period.start) ??
      anchorOf(schedule, shorter, before(schedule.billing_anchor)),
    end_date: schedule.end_date === null ? null : before(schedule.end_date),
  };
  return chargeCells(original, cadence, shorter).map(({ reference, cell }) => ({
    reference: later(reference, inside),
    cell: later(cell, inside),
  }));
}

/** The anchor before the pauses, if the period is one of its grid: after a resumption a new grid begins. */
function anchorOfGridAt(schedule: BillingSchedule, start: Instant): Instant | null {
  const { anchor_before_pauses } = schedule;
  if (anchor_before_pauses === undefined) return null;
  const before = { ...schedule, billing_anchor: anchor_before_pauses, end_date: null };
  return periodContaining(before, start)?.start === start ? anchor_before_pauses : null;
}

/**
 * The anchor of the grid of a period without its pauses, if that before the pauses is not known: its end, or its
 * start where the end has lost the day of the month. For example, a period from 31 August ends on 30 September;
 * counted back from there it would begin on 30 August. The start has the day, so it is the anchor.
 */
function anchorOf(schedule: BillingSchedule, period: Period, end: Instant): Instant {
  const fromStart = { ...schedule, billing_anchor: period.start, start_date: period.start };
  const isWhole =
    periodContaining({ ...fromStart, end_date: null }, period.start)?.end === period.end;
  return isWhole ? period.start : end;
}

/** The period with the pauses inserted. */
function later({ start, end }: Period, pauses: readonly Period[]): Period {
  let [from, to] = [start, end];
  for (const pause of pauses) {
    if (from >= pause.start) from = isoText(epochMs(from) + lengthOf(pause));
    if (to > pause.start) to = isoText(epochMs(to) + lengthOf(pause));
  }
  return { start: from, end: to };
}

/**
 * The uncut cell that a billed row pays. A row that was billed before a pause has the times of its cell as they were
 * then, so the cells are looked up without the last pause, without the last two, and so on. `pauses` made the period of
 * the cells longer, in order of time. Undefined: the row pays none of them.
 */
export function cellAsBilled(
  cells: readonly Period[],
  pauses: readonly Period[],
): (row: { readonly period_start: Instant; readonly period_end: Instant }) => Period | undefined {
  const grids = [cells];
  for (const pause of pauses.toReversed())
    grids.push(grids.at(-1)!.map((cell) => earlier(cell, pause)));
  return (row) => {
    for (const grid of grids) {
      const index = grid.findIndex(
        ({ start, end }) => start <= row.period_start && row.period_end <= end,
      );
      if (index >= 0) return cells[index];
    }
    return cells.find(({ start, end }) => start <= row.period_start && row.period_start < end);
  };
}

/** The cell as it was before a pause moved it. */
function earlier({ start, end }: Period, pause: Period): Period {
  const before = (at: Instant) => (at < pause.end ? at : isoText(epochMs(at) - lengthOf(pause)));
  return { start: before(start), end: before(end) };
}

const lengthOf = ({ start, end }: Period): number => epochMs(end) - epochMs(start);
