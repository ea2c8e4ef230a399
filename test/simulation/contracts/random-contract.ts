import { luxonInstant } from '../../support/second-calendar.ts';
import type { Random } from '../../support/random.ts';
import { MONTHS, roughDays, type Bucket, type Unit } from './naive-calendar.ts';
import type {
  Addon,
  Contract,
  Fee,
  Grant,
  Kind,
  LineCommitment,
  Member,
  Model,
  Pause,
  Service,
  Use,
} from './contract.ts';
import { Account, GRACE_MS } from './naive-contract.ts';

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

/** A contract of any shape, with what is special about its kind. */
export function randomContract(random: Random, kind: Kind): Contract {
  const plain = plainContract(random, kind);
  switch (kind) {
    case 'pauses':
      return withPauses(random, plain);
    case 'addons':
      return withAddons(random, plain);
    case 'grants':
      return withGrants(random, plain);
    case 'families':
      return withFamily(random, plain);
    case 'units':
      return { ...plain, inUnits: true };
    default:
      return plain;
  }
}

const NOTHING_MORE = {
  ...{ pauses: [], addons: [], grants: [], grantsOfPlan: false },
  ...{ inUnits: false, members: [], isDelegated: false },
};

function plainContract(random: Random, kind: Kind): Contract {
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
  const isPhased =
    kind !== 'pauses' && kind !== 'addons' && random.chance(kind === 'windows' ? 0.5 : 0.2);
  const phase = isPhased
    ? start + Math.floor(((end ?? start + length) - start) * (0.1 + random.next() * 0.8))
    : null;
  const isPooled = !isPhased && random.chance(0.2);
  const isWindows = kind === 'windows';
  const commits = (!isPhased || isWindows) && !isPooled;
  const modelled = (model: Model) => ({
    model,
    later: isPhased && random.chance(0.6) ? otherPrice(random, model) : null,
  });
  return {
    ...own,
    ...NOTHING_MORE,
    kind,
    ...{ zone, start, end, cycle, anchor, phase, periods },
    prorated: random.chance(0.5),
    grouped: random.chance(0.4),
    currency: random.pick(
      kind === 'units' || kind === 'grants' || isPooled
        ? (['usd', 'usd', 'jpy'] as const)
        : (['usd', 'usd', 'jpy', 'crx'] as const),
    ),
    fees: Array.from({ length: 1 + random.below(3) }, (_, index): Fee => ({
      ...cadence(random, own),
      name: `fee ${index}`,
      during: null,
      advance: random.chance(0.6),
      quantity: random.below(6),
      ...modelled(randomModel(random)),
    })),
    services: Array.from({ length: 1 + random.below(3) }, (_, index): Service => {
      const price = cadence(random, own);
      const bucket = random.chance(0.4) ? { size: random.pick(BUCKETS) } : null;
      const max = random.chance(bucket !== null ? 0.4 : isWindows ? 0.3 : 0);
      return {
        ...price,
        name: `service ${index}`,
        during: null,
        ...modelled(randomModel(random)),
        max,
        bucket,
        free:
          !(max && bucket !== null) && random.chance(isWindows && max ? 0.8 : 0.4)
            ? { limit: random.below(120), reset: random.pick(RESETS) }
            : null,
        commitment:
          commits && random.chance(isWindows ? 0.8 : 0.5)
            ? lineCommitment(random, bucket?.size ?? null, isWindows)
            : null,
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
    // The true-up of the subscription is no usage; only a wallet for everything pays it.
    credits: random.chance(isPooled && kind !== 'plain' ? 1 : 0.3) ? 1 + random.below(300) : 0,
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

function lineCommitment(random: Random, bucket: Bucket | null, isWindows: boolean): LineCommitment {
  const windowed = bucket !== null && random.chance(isWindows ? 0.4 : 0.7);
  const longer = bucket === null ? DURATIONS : DURATIONS.slice(DURATIONS.indexOf(LONGER[bucket]));
  const durations = bucket === null || isWindows ? longer : (['ANNUAL'] as const);
  return {
    ...promise(random),
    type: random.chance(0.5) ? 'amount' : 'quantity',
    value: String(1 + random.below(80)),
    windowed,
    duration: windowed ? null : random.pick([null, ...durations]),
  };
}

const DURATIONS: readonly Unit[] = [
  'DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL',
]; // prettier-ignore
/** The shortest commitment over several windows. */
const LONGER = { '6HOUR': 'DAILY', DAY: 'WEEKLY', WEEK: 'MONTHLY', MONTH: 'QUARTERLY' } as const;

/** One to three pauses, each after the resumption of the one before. */
function withPauses(random: Random, plain: Contract): Contract {
  // What is credited at a resumption has tables of its own for discounts and taxes.
  const isCredited = plain.cycle === 'calendar' && plain.prorated;
  let contract: Contract = isCredited ? { ...plain, off: null, taxes: [] } : plain;
  for (let left = 1 + random.below(3); left > 0; left -= 1) {
    const pause = randomPause(random, contract);
    if (pause !== null) contract = { ...contract, pauses: [...contract.pauses, pause] };
  }
  return contract;
}

/** Null: there is no time for it. */
function randomPause(random: Random, contract: Contract): Pause | null {
  const { pauses, end } = contract;
  const { periods } = new Account(contract, []);
  const from = (pauses.at(-1)?.end ?? contract.start) + GRACE_MS;
  const period = random.pick(periods.slice(0, contract.periods));
  const mode = random.pick(['immediate', 'immediate', 'scheduled', 'period_end'] as const);
  const within = period.start + Math.floor((period.end - period.start) * random.next());
  const start = mode === 'period_end' ? period.end : within;
  const whole = roughDays(contract.unit, contract.count) * DAY;
  const length = Math.ceil(whole * random.pick([0.05, 0.3, 0.9, 2.5]) * (0.1 + random.next()));
  const isRound = random.chance(0.3);
  const until = start + (isRound ? Math.ceil(length / DAY) * DAY : length);
  if (start < from || (end !== null && until + GRACE_MS >= end)) return null;
  return { mode, start, end: until, byHand: random.chance(0.5) };
}

/** Addons that are attached while the contract runs, most of them detached later. */
function withAddons(random: Random, plain: Contract): Contract {
  const { periods } = new Account(plain, []);
  const own = { unit: plain.unit, count: plain.count };
  const until = (periods[plain.periods - 1] ?? periods.at(-1)!).end - GRACE_MS;
  const later = (from: number) => from + 1 + Math.floor((until - from) * random.next());
  const line = () => ({
    ...cadence(random, own),
    during: null,
    model: randomModel(random),
    later: null,
  });
  const addons = Array.from({ length: 1 + random.below(3) }, (_, index): Addon => {
    const attached = later(plain.start);
    const once = random.chance(0.2);
    const at = later(attached);
    return {
      ...{ attached, once },
      quantity: 1 + random.below(4),
      prorated: random.pick([null, null, true, false]),
      detached: once || random.chance(0.3) || at >= until ? null : { at, now: random.chance(0.6) },
      fees: Array.from({ length: 1 + random.below(2) }, (__, fee): Fee => ({
        ...{ ...line(), name: `fee ${fee} of addon ${index}` },
        ...{ advance: random.chance(0.7), quantity: 1 },
      })),
      services: random.chance(0.5)
        ? []
        : [
            {
              ...line(),
              name: `addon ${index}`,
              max: false,
              bucket: null,
              free: null,
              commitment: null,
            },
          ],
    };
  });
  // What an addon in a custom currency gets back is converted row by row.
  return { ...plain, addons, currency: plain.currency === 'crx' ? 'usd' : plain.currency };
}

function withGrants(random: Random, plain: Contract): Contract {
  const { unit, count, periods } = plain;
  const days = roughDays(unit, count) * periods;
  // A wallet that was paid ahead has the rate 1.
  const rate = plain.credits > 0 ? '1' : random.pick(['1', '0.01', '2.5']);
  const fitting = UNITS.filter((one) => days / roughDays(one) < 30);
  return {
    ...plain,
    grantsOfPlan: random.chance(0.5),
    grants: Array.from({ length: 1 + random.below(3) }, (): Grant => ({
      credits: ((1 + random.below(6000)) / 100 / Number(rate)).toFixed(4),
      rate,
      every: random.chance(0.25)
        ? null
        : { unit: random.pick(fitting), count: 1 + random.below(2) },
      expires: random.pick([
        'NEVER',
        'BILLING_CYCLE',
        { unit: random.pick(['DAY', 'WEEK', 'MONTH'] as const), count: 1 + random.below(5) },
      ] as const),
      priority: random.pick([null, null, 1, 2]),
    })),
  };
}

/** Customers who use the subscription too, or another one who pays it. */
function withFamily(random: Random, plain: Contract): Contract {
  if (random.chance(0.3)) return { ...plain, isDelegated: true };
  const { periods } = new Account(plain, []);
  const until = (periods[plain.periods - 1] ?? periods.at(-1)!).end;
  const within = (from: number) => from + 1 + Math.floor((until - from - 2) * random.next());
  const members = Array.from({ length: 1 + random.below(3) }, (): Member => {
    const joins = random.chance(0.5) ? null : within(plain.start);
    const leaves = random.chance(0.5) ? null : within(joins ?? plain.start);
    return { joins, leaves };
  });
  return { ...plain, members };
}

/** Usage at any time of the contract, and at the very ends of its periods. */
export function randomUses(random: Random, contract: Contract): Use[] {
  const { periods } = new Account(contract, []);
  const last = (periods[contract.periods] ?? periods.at(-1)!).end;
  const services = [...contract.services, ...contract.addons.flatMap((addon) => addon.services)];
  return services.flatMap(({ name }) =>
    Array.from({ length: random.below(20) }, (): Use => {
      const at = random.chance(0.25)
        ? random.pick(periods).start - random.pick([0, 1])
        : contract.start + Math.floor(random.next() * (last - contract.start));
      const others = contract.isDelegated ? 1 : contract.members.length;
      const by = others === 0 ? 0 : random.below(others + 1);
      return { by, service: name, at, value: String(random.below(400) / random.pick([1, 4])) };
    }),
  );
}
