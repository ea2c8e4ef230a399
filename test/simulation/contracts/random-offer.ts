import type { Random } from '../../support/random.ts';
import { MONTHS, type Unit } from './naive-calendar.ts';
import type { Model } from './contract.ts';

export const DAY = 86_400_000;
export const UNITS: readonly Unit[] = [
  'MONTHLY', 'MONTHLY', 'MONTHLY', 'QUARTERLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL', 'WEEKLY', 'DAILY',
]; // prettier-ignore

/** That of the subscription, or one that divides it. */
export function cadence(
  random: Random,
  own: { readonly unit: Unit; readonly count: number },
): { readonly unit: Unit; readonly count: number } {
  const months = MONTHS[own.unit] * own.count;
  if (months === 0 || random.chance(0.5)) return own;
  const fitting = (['MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL'] as const).filter(
    (unit) => months % MONTHS[unit] === 0,
  );
  return { unit: random.pick(fitting), count: 1 };
}

export function randomModel(random: Random): Model {
  // Half cents: most amounts are rounded.
  const each = () => (random.below(400) / 100 + 0.005).toFixed(3);
  switch (random.below(4)) {
    case 0:
      return { kind: 'package', size: 2 + random.below(30), each: each() };
    case 1:
    case 2: {
      const flat = () => (random.chance(0.3) ? String(random.below(9)) : '0');
      return {
        kind: random.chance(0.5) ? 'slab' : 'volume',
        tiers: [
          { upTo: 3 + random.below(40), each: each(), flat: flat() },
          { upTo: 50 + random.below(100), each: each(), flat: flat() },
          { upTo: null, each: each(), flat: flat() },
        ],
      };
    }
    default:
      return { kind: 'flat', each: each() };
  }
}
