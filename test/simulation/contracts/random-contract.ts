import { luxonInstant } from '../../support/second-calendar.ts';
import type { Random } from '../../support/random.ts';
import { MONTHS, roughDays, type Bucket, type Unit } from './naive-calendar.ts';
import type { Contract, Fee, LineCommitment, Model, Service, Use } from './contract.ts';
import { Account } from './naive-contract.ts';

const DAY = 86_400_000;
const ZONES = [
  'UTC', 'UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Pacific/Auckland',
] as const; // prettier-ignore
/** Leap days, ends of months, and days on which clocks change. */
const DATES = [
  [2024, 2, 29], [2024, 1, 31], [2024, 3, 10], [2024, 3, 31], [2024, 11, 3], [2024, 10, 6], [2025, 12, 30],
  [2024, 1, 1], [2024, 4, 1], [2024, 7, 1], [2024, 8, 31],
] as const; // prettier-ignore
const TIMES = [0, 0, 0, 2.5, 9.5, 23.25] as const;
const UNITS: readonly Unit[] = [
  'MONTHLY', 'MONTHLY', 'MONTHLY', 'QUARTERLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL', 'WEEKLY', 'DAILY',
]; // prettier-ignore
const RESETS = ['DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL', 'NEVER', null] as const;
const BUCKETS: readonly Bucket[] = ['6HOUR', 'DAY', 'WEEK', 'MONTH'];

/** A contract of any shape, without changes while it lives. */
export function randomContract(random: Random): Contract {
  const zone = random.pick(ZONES);
  const local = randomLocal(random);
  const start = luxonInstant(zone, local);
  const cycle = random.chance(0.4) ? 'calendar' : 'anniversary';
  const unit = random.pick(UNITS);
  const count = unit !== 'ANNUAL' && random.chance(0.2) ? 2 : 1;
  const own = { unit, count };
  const days = roughDays(unit, count);
  const isAnchored = cycle === 'anniversary' && MONTHS[unit] > 0 && random.chance(0.15);
  const anchor = isAnchored ? luxonInstant(zone, local + (2 + random.below(days)) * DAY) : null;
  const periods = days > 200 ? 2 : 3 + random.below(days > 80 ? 2 : 4);
  const length = periods * days * DAY;
  const end = random.chance(0.3) ? start + Math.floor(length * (0.4 + random.next() * 0.5)) : null;
  const isPhased = random.chance(0.2);
  const phase = isPhased
    ? start + Math.floor(((end ?? start + length) - start) * (0.1 + random.next() * 0.8))
    : null;
  const isPooled = !isPhased && random.chance(0.2);
  const commits = !isPhased && !isPooled;
  const modelled = (model: Model) => ({
    model,
    later: isPhased && random.chance(0.6) ? otherPrice(random, model) : null,
  });
  return {
    ...own,
    ...{ zone, start, end, cycle, anchor, phase, periods },
    prorated: random.chance(0.5),
    grouped: random.chance(0.4),
    currency: random.pick(['usd', 'usd', 'jpy', 'crx']),
    fees: Array.from({ length: 1 + random.below(3) }, (_, index): Fee => ({
      ...cadence(random, own),
      name: `fee ${index}`,
      advance: random.chance(0.6),
      quantity: random.below(6),
      ...modelled(randomModel(random)),
    })),
    services: Array.from({ length: 1 + random.below(3) }, (_, index): Service => {
      const price = cadence(random, own);
      const bucket = random.chance(0.4)
        ? { size: random.pick(BUCKETS), sum: random.chance(0.6) }
        : null;
      return {
        ...price,
        name: `service ${index}`,
        ...modelled(randomModel(random)),
        bucket,
        free:
          bucket?.sum !== false && random.chance(0.4)
            ? { limit: random.below(120), reset: random.pick(RESETS) }
            : null,
        commitment: commits && random.chance(0.5) ? lineCommitment(random, bucket !== null) : null,
      };
    }),
    commitment: isPooled
      ? {
          ...promise(random),
          value: String(random.below(400) / 2 + 1),
          duration: random.pick([null, ...UNITS.filter((one) => roughDays(one) >= days)]),
        }
      : null,
    off: random.chance(0.3)
      ? { percent: 1 + random.below(100), periods: random.pick([null, 1, 2, 3]) }
      : null,
    taxes: Array.from({ length: random.below(4) }, () => ({
      percent: random.pick(['8.25', '19', '7', '0.5', '21', '10']),
      inclusive: random.chance(0.4),
    })),
    credits: random.chance(0.3) ? random.below(300) : 0,
  };
}

function randomLocal(random: Random): number {
  const [year, month, day] = random.pick(DATES);
  const moved = random.chance(0.5) ? random.below(400) : 0;
  return Date.UTC(year, month - 1, day + moved) + random.pick(TIMES) * 3_600_000;
}

/** That of the subscription, or one that divides it. */
function cadence(
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

function randomModel(random: Random): Model {
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

/** The same model with other prices. */
function otherPrice(random: Random, model: Model): Model {
  const other = (each: string) => (Number(each) + 1 + random.below(3)).toFixed(3);
  return model.kind === 'flat' || model.kind === 'package'
    ? { ...model, each: other(model.each) }
    : { ...model, tiers: model.tiers.map((tier) => ({ ...tier, each: other(tier.each) })) };
}

const promise = (random: Random) => ({
  factor: random.pick(['1', '1.5', '2.25']),
  trueUp: random.chance(0.6),
});

function lineCommitment(random: Random, isBucketed: boolean): LineCommitment {
  const windowed = isBucketed && random.chance(0.7);
  // Windows of a bucket beside those of a shorter commitment have tables of their own.
  const durations = isBucketed
    ? ([null, 'ANNUAL'] as const)
    : ([null, 'DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL'] as const);
  return {
    ...promise(random),
    type: random.chance(0.5) ? 'amount' : 'quantity',
    value: String(1 + random.below(80)),
    windowed,
    duration: windowed ? null : random.pick(durations),
  };
}

/** Usage at any time of the contract, and at the very ends of its periods. */
export function randomUses(random: Random, contract: Contract): Use[] {
  const { periods } = new Account(contract, []);
  const last = periods.at(-1)!.end;
  return contract.services.flatMap(({ name }) =>
    Array.from({ length: random.below(20) }, (): Use => {
      const at = random.chance(0.25)
        ? random.pick(periods).start - random.pick([0, 1])
        : contract.start + Math.floor(random.next() * (last - contract.start));
      return { service: name, at, value: String(random.below(400) / random.pick([1, 4])) };
    }),
  );
}
