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

/** Few days of the period have changes and pauses have one length, so that many lives share the instants of a clock. */
const DAYS = [4, 13, 22] as const;
const PAUSE_DAYS = 10;

/**
 * Changes of every kind. A discount and a change within a period do not meet: what is credited for a discounted fee
 * has its own tables (billing 5.2).
 */
export function randomLife(roll: Dice, start: number, months: number): Life {
  const off = roll(3) === 0 ? { percent: 5 + roll(60), periods: 1 + roll(months) } : null;
  const ends = roll(3) === 0 ? 3 + roll(months) : months;
  let pauses = 0;
  let addons = 0;
  const changes = Array.from({ length: months }, (_, month): Change => {
    const kind = roll(20);
    const day = DAYS[roll(DAYS.length)]!;
    if (month === ends)
      return roll(2) === 0 && off === null ? { kind: 'stop', day } : { kind: 'cancel', day };
    if (kind === 0 && pauses < 2) {
      pauses += 1;
      return { kind: 'pause', day, days: PAUSE_DAYS };
    }
    if (off !== null) return { kind: 'none' };
    if (kind <= 2) return { kind: 'seats', day, seats: 1 + roll(30) };
    if (kind === 3) return { kind: 'plan', day };
    if (kind === 4 && addons < 3) {
      addons += 1;
      return { kind: 'attach', day };
    }
    if (kind === 5 && addons > 0) {
      addons -= 1;
      return { kind: 'detach', day };
    }
    return { kind: 'none' };
  });
  return { start, months, seats: 1 + roll(20), off, changes };
}

export const randomUses = (roll: Dice, { start, months }: Life): Use[] =>
  METERS.flatMap((meter) =>
    Array.from({ length: months }, () => ({
      meter,
      at: start + roll(months * 31) * DAY + roll(DAY),
      value: roll(150),
    })),
  );
