import type { Cadence, Contract, Pause, PlanMove } from './contract.ts';
import {
  boundary,
  calendarAnchor,
  cellAt,
  cellsOver,
  clockAt,
  cut,
  type Clock,
  type Time,
} from './naive-calendar.ts';

/** A billing period as it was lived. */
export interface Lived extends Time {
  /** The grid of its cells. */
  readonly clock: Clock;
  /** The pauses that made it longer; none on a calendar. */
  readonly added: readonly Time[];
  /** The period of the same number, had there never been a pause: terms are counted in it. */
  readonly shadow: Time;
  /** The grid of its shadow. */
  readonly shadowClock: Clock;
  /** It begins with a resumption after the end of the period before, so its advances are billed by themselves. */
  readonly restarts: boolean;
  /** The change of the plan that cuts it. */
  readonly cutBy: PlanMove | null;
  /** When it is billed. */
  readonly closed: number;
}

/** A charge period: uncut, and cut by the billing period. Pauses are in it. */
export interface Cell {
  readonly reference: Time;
  readonly cell: Time;
}

const length = ({ start, end }: Time): number => end - start;

/** Milliseconds of a time that are in some of the others. */
export const overlap = (time: Time, others: readonly Time[]): number =>
  others.reduce((sum, other) => {
    const both = cut(time, other);
    return sum + (both === null ? 0 : length(both));
  }, 0);

/** What is billed: nothing of a trial. */
export const lifeOf = (contract: Contract): Time => ({
  start: paidFrom(contract),
  end: contract.end ?? Infinity,
});

function paidFrom({ zone, start, trial, trialOf, trialMoves }: Contract): number {
  const planned =
    typeof trialOf === 'object' ? trialOf.end : boundary(clockAt(zone, start), 'DAILY', 1, trial);
  return trialMoves.at(-1)?.end ?? planned;
}

/** The grid that the subscription has before any pause. */
export function firstClock(contract: Contract): Clock {
  const { cycle, zone, unit, start, anchor } = contract;
  return clockAt(
    zone,
    cycle === 'calendar' ? calendarAnchor(zone, unit, start) : (anchor ?? paidFrom(contract)),
  );
}

/** Up to the end of the contract; without an end, one period more than it is watched. */
export function livedPeriods(contract: Contract): Lived[] {
  const { cycle, zone, unit, count, pauses, moves } = contract;
  const life = lifeOf(contract);
  const original = firstClock(contract);
  const lived: Lived[] = [];
  let [clock, at, restarts] = [original, life.start, false];
  let [shadowStart, shadowClock] = [life.start, original];
  while (at < life.end && (contract.end !== null || lived.length <= contract.periods)) {
    const whole = cellAt(clock, unit, count, at);
    const added: Pause[] = [];
    let end = whole.end;
    if (cycle === 'anniversary')
      for (const pause of pauses)
        if (pause.start >= at && pause.start < end) {
          added.push(pause);
          end += length(pause);
        }
    const move = moves.find((one) => one.restarts && one.at > at && one.at <= end);
    const cutBy = move !== undefined && move.at < end ? move : null;
    end = Math.min(end, move?.at ?? end, life.end);
    // Had there been no pause, a new anchor would be as far into its period (billing 12.4, 14.2).
    const uncut = cellAt(shadowClock, unit, count, shadowStart).end;
    const into = end - at - overlap({ start: at, end }, added);
    const shadow = { start: shadowStart, end: cutBy === null ? uncut : shadowStart + into };
    const around = pauses.find((pause) => pause.start < end && pause.end > end);
    lived.push({
      ...{ start: at, end, clock, added, shadow, shadowClock, restarts, cutBy },
      closed: around?.end ?? end,
    });
    const isAway = around !== undefined && around.start <= at;
    if (!isAway) shadowStart = shadow.end;
    const rest = pauses.find((pause) => pause.start === end);
    restarts = rest !== undefined;
    at = rest?.end ?? end;
    const isMoved = rest !== undefined || added.length > 0 || move !== undefined;
    if (cycle === 'anniversary' && isMoved) clock = clockAt(zone, at);
    if (move !== undefined) shadowClock = clockAt(zone, shadow.end);
  }
  return lived;
}

/** The charge periods of a billing period; pauses that made it longer are in them. */
export function cellsOf({ clock, added, ...period }: Lived, { unit, count }: Cadence): Cell[] {
  const lost = overlap(period, added);
  const own = { start: period.start, end: period.end - lost };
  return cellsOver(clock, unit, count, own).map((reference) => ({
    reference: longer(reference, added),
    cell: longer(cut(reference, own)!, added),
  }));
}

/** The time with the pauses put in. */
function longer(time: Time, pauses: readonly Time[]): Time {
  let { start, end } = time;
  for (const pause of pauses) {
    if (start >= pause.start) start += length(pause);
    if (end > pause.start) end += length(pause);
  }
  return { start, end };
}

/** The parts of a time outside of pauses. */
export function active(time: Time, pauses: readonly Time[]): Time[] {
  return pauses.reduce<Time[]>(
    (parts, pause) =>
      parts.flatMap((part) => {
        const before = cut(part, { start: -Infinity, end: pause.start });
        const after = cut(part, { start: pause.end, end: Infinity });
        return [before, after].filter((one) => one !== null);
      }),
    [time],
  );
}
