import { DAY, METERS, type Change, type Life, type Use } from './naive-subscription.ts';

/** A whole number below `sides`. */
export type Dice = (sides: number) => number;

/** A generator for each life, so that one can be run alone. */
export function diceOf(seed: number): Dice {
  let state = (seed * 2_654_435_761) >>> 0;
  return (sides) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0;
    return ((state ^ (state >>> 13)) >>> 0) % sides;
  };
}

/** Changes are on few days of a period and pauses have few lengths: many lives share the instants of a clock. */
const DAYS = [4, 13, 22] as const;
/** Shorter than a period, and longer than one. */
const PAUSE_DAYS = [10, 45] as const;
/** A change after a pause is in the same period, also if that began on the last of `DAYS`. */
const DAYS_AFTER_PAUSE = 3;

/**
 * Changes of every kind. A discount and a change within a period do not meet: what is credited for a discounted fee
 * has its own tables (billing 5.2).
 */
export function randomLife(roll: Dice, start: number, months: number): Life {
  const off = roll(3) === 0 ? { percent: 5 + roll(60), periods: 1 + roll(months) } : null;
  // Every life ends, because those with long pauses last longer than the others.
  const ends = roll(3) === 0 ? Math.min(3 + roll(months), months - 1) : months - 1;
  let pauses = 0;
  let addons = 0;
  const changes = Array.from({ length: months }, (_, month): Change => {
    const kind = roll(20);
    const day = DAYS[roll(DAYS.length)]!;
    if (month === ends)
      return roll(2) === 0 && off === null ? { kind: 'stop', day } : { kind: 'cancel', day };
    if (kind <= 1 && pauses < 3) {
      pauses += 1;
      const then = off === null && month > 2 ? afterPause(roll) : null;
      return { kind: 'pause', day, days: PAUSE_DAYS[roll(PAUSE_DAYS.length)]!, then };
    }
    if (off !== null) return { kind: 'none' };
    if (kind <= 3) return { kind: 'seats', day, seats: 1 + roll(30) };
    if (kind === 4) return { kind: 'plan', day };
    if (kind === 5 && addons < 3) {
      addons += 1;
      return { kind: 'attach', day };
    }
    if (kind === 6 && addons > 0) {
      addons -= 1;
      return { kind: 'detach', day };
    }
    return { kind: 'none' };
  });
  return { start, months, seats: 1 + roll(20), off, changes };
}

function afterPause(roll: Dice): Extract<Change, { kind: 'pause' }>['then'] {
  const kind = roll(4);
  if (kind >= 2) return null;
  const change =
    kind === 0 ? ({ kind: 'seats', seats: 1 + roll(30) } as const) : ({ kind: 'stop' } as const);
  return { days: DAYS_AFTER_PAUSE, change };
}

export const randomUses = (roll: Dice, { start, months }: Life): Use[] =>
  METERS.flatMap((meter) =>
    Array.from({ length: months }, () => ({
      meter,
      at: start + roll(months * 31) * DAY + roll(DAY),
      value: roll(150),
    })),
  );
