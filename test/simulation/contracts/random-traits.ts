import type { Random } from '../../support/random.ts';
import { roughDays, type Time, type Unit } from './naive-calendar.ts';
import type {
  Addon,
  Cancellation,
  Contract,
  Fee,
  Grant,
  Member,
  Pause,
  QuantityChange,
  Trait,
} from './contract.ts';
import { Account, GRACE_MS } from './naive-contract.ts';
import { withMoves } from './random-moves.ts';
import { DAY, UNITS, cadence, randomModel } from './random-offer.ts';

/** The contract with what is special about it. Pauses come first: what happens later, happens outside of them. */
export function withTraits(random: Random, plain: Contract, traits: ReadonlySet<Trait>): Contract {
  let contract = plain;
  if (traits.has('pauses')) contract = withPauses(random, contract);
  if (traits.has('addons')) contract = withAddons(random, contract);
  if (traits.has('grants')) contract = withGrants(random, contract, traits);
  if (traits.has('families')) contract = withFamily(random, contract);
  return { ...contract, inUnits: traits.has('units') };
}

/** The instant, or the first one after a pause around it. */
export function unpaused({ pauses }: Contract, at: number): number {
  const around = pauses.find(({ start, end }: Time) => start <= at && at <= end);
  return around === undefined ? at : around.end + 1;
}

/** One to three pauses, each after the resumption of the one before. */
export function withPauses(random: Random, plain: Contract): Contract {
  let contract = plain;
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
  const byHand = random.chance(0.5);
  return { mode, start, end: until, byHand, planned: null, isLast: false };
}

/** Addons that are attached while the contract runs, most of them detached later. */
export function withAddons(random: Random, plain: Contract): Contract {
  const { periods } = new Account(plain, []);
  const own = { unit: plain.unit, count: plain.count };
  const until = (periods[plain.periods - 1] ?? periods.at(-1)!).end - GRACE_MS;
  const later = (from: number) =>
    unpaused(plain, from + 1 + Math.floor((until - from) * random.next()));
  const line = () => ({
    ...cadence(random, own),
    during: null,
    model: randomModel(random),
    later: null,
  });
  const addons = Array.from({ length: 1 + random.below(3) }, (_, index): Addon | null => {
    const attached = later(plain.start);
    if (attached >= until) return null;
    const once = random.chance(0.2);
    const at = later(attached);
    return {
      ...{ attached, once },
      ...{ quantity: 1 + random.below(4), allowances: [] },
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
  return { ...plain, addons: addons.filter((addon) => addon !== null) };
}

function withGrants(random: Random, plain: Contract, traits: ReadonlySet<Trait>): Contract {
  const { unit, count, periods } = plain;
  const days = roughDays(unit, count) * periods;
  // A wallet that was paid ahead, or that a change makes, has its own rate.
  const isOne = plain.credits > 0 || traits.has('addons') || traits.has('pauses');
  const rate = isOne ? plain.creditRate : random.pick(['1', '0.01', '2.5']);
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
  return withMembers(random, plain, (periods[plain.periods - 1] ?? periods.at(-1)!).end);
}

/** Customers who use the subscription too, some for a part of the time before an instant. */
export function withMembers(random: Random, plain: Contract, until: number): Contract {
  const within = (from: number) => {
    const at = unpaused(plain, from + 1 + Math.floor((until - from - 2) * random.next()));
    return at < until ? at : null;
  };
  const members = Array.from({ length: 1 + random.below(3) }, (): Member => {
    const joins = random.chance(0.5) ? null : within(plain.start);
    const leaves = random.chance(0.5) ? null : within(joins ?? plain.start);
    return { joins, leaves };
  });
  return { ...plain, members };
}

/** A trial before the contract, its cancellation, or both. */
export function withEnd(random: Random, plain: Contract): Contract {
  const days = roughDays(plain.unit, plain.count);
  const trial = random.chance(0.4) ? 1 + random.below(Math.min(2 * days, 60)) : 0;
  const contract: Contract = {
    ...plain,
    trial,
    anchor: trial > 0 ? null : plain.anchor,
    end: plain.end === null ? null : plain.end + trial * DAY,
  };
  return random.chance(0.15)
    ? contract
    : { ...contract, cancelled: cancellation(random, contract) };
}

export function cancellation(random: Random, contract: Contract): Cancellation {
  const { periods } = new Account(contract, []);
  const first = { start: contract.start, end: periods[0]!.start };
  const lived = [...(contract.trial > 0 ? [first] : []), ...periods.slice(0, contract.periods)];
  const period = random.pick(lived);
  const within = (from: number, to: number) =>
    from + 1 + Math.floor((to - from - 2) * random.next());
  const isSoon = random.chance(0.2);
  const at = isSoon ? period.start + 1 + random.below(GRACE_MS) : within(period.start, period.end);
  const [type, prorated] = [
    random.pick(['immediate', 'immediate', 'end_of_period', 'scheduled_date'] as const),
    random.pick([null, null, true, false]),
  ];
  switch (type) {
    case 'immediate': {
      const asked = random.chance(0.3) ? within(at, period.end) : at;
      return { type, asked, at, prorated, invoiced: random.chance(0.8) };
    }
    case 'end_of_period':
      return { type, asked: at, at: period.end, prorated, invoiced: true };
    case 'scheduled_date': {
      const later = lived.filter(({ end }) => end > at);
      if (later.length === 0) return { type: 'immediate', asked: at, at, prorated, invoiced: true };
      const last = random.pick(later);
      const planned = random.chance(0.3) ? last.end : within(Math.max(at, last.start), last.end);
      return { type, asked: at, at: planned, prorated, invoiced: true };
    }
    default:
      return type satisfies never;
  }
}

/** Other quantities in mid-life. What discounts and taxes make of a change has tables of its own. */
export function withChanges(random: Random, plain: Contract): Contract {
  const { periods } = new Account(plain, []);
  const lived = periods.slice(0, plain.periods);
  const changes = plain.fees.map(({ name, quantity }): QuantityChange => {
    const { start, end } = random.pick(lived);
    const at = start + 1 + Math.floor((end - start - 2) * random.next());
    return { fee: name, at, quantity: (quantity + 1 + random.below(5)) % 7 };
  });
  return { ...plain, off: null, taxes: [], changes };
}

/** Addons and quantities change beside the plan, and all of it may be cancelled after the last change. */
export function withAmendments(random: Random, plain: Contract): Contract {
  const moved = withMoves(random, plain, 0);
  const changed = random.chance(0.5) ? withQuantity(random, moved) : moved;
  // What discounts and taxes make of a change has a kind of its own.
  const isPlain = changed.changes.length > 0;
  const contract = withAddons(random, isPlain ? { ...changed, off: null, taxes: [] } : changed);
  const last = Math.max(
    ...contract.moves.map(({ at }) => at),
    ...contract.addons.flatMap(({ attached, detached }) => [attached, detached?.at ?? 0]),
    ...contract.changes.map(({ at }) => at),
  );
  if (random.chance(0.3)) return contract;
  const ends = Array.from({ length: 20 }, () => cancellation(random, contract));
  return {
    ...contract,
    cancelled: ends.find(({ asked, at }) => Math.min(asked, at) > last) ?? null,
  };
}

/** Another quantity of a fee of one of the plans, while the plan runs. */
export function withQuantity(random: Random, plain: Contract): Contract {
  const { periods } = new Account(plain, []);
  const index = random.below(plain.moves.length + 1);
  const fees = [plain, ...plain.moves][index]!.fees.filter(
    (fee) => index === 0 || fee.unit === plain.unit,
  );
  const { name, quantity } = random.pick(fees);
  const from = plain.moves[index - 1]?.at ?? plain.start;
  const until = plain.moves[index]?.asked ?? periods[plain.periods - 1]?.end ?? periods.at(-1)!.end;
  const at = from + 1 + Math.floor((until - from - 2) * random.next());
  if (at <= from || at >= until) return plain;
  const change = { fee: name, at, quantity: (quantity + 1 + random.below(5)) % 7 };
  return { ...plain, changes: [change] };
}
