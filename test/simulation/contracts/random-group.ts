import { luxonInstant, luxonLocal } from '../../support/second-calendar.ts';
import type { Random } from '../../support/random.ts';
import type { Contract, Fee, Service, Use } from './contract.ts';
import type { Child, Group, GroupUse } from './group.ts';
import { MONTHS, roughDays, type Time } from './naive-calendar.ts';
import { Account, GRACE_MS } from './naive-contract.ts';
import { NOTHING_MORE, ZONES, randomLocal } from './random-contract.ts';
import { DAY, UNITS, cadence, randomModel } from './random-offer.ts';
import { cancellation, withChanges, withMembers } from './random-traits.ts';

/** A parent with one to three children, each with lines, coupon and end of its own. */
export function randomGroup(random: Random): Group {
  const plain = plainParent(random);
  const ended = withEnding(random, plain);
  const parent = random.chance(0.4) ? withMembers(random, ended, endOf(ended)) : ended;
  const children = Array.from({ length: 1 + random.below(3) }, (_, index) =>
    randomChild(random, parent, index + 1),
  );
  return { parent, children: children.filter((child) => child !== null) };
}

/** The shape of a parent, from which its children take zone, period and boundaries. */
export function plainParent(random: Random): Contract {
  const zone = random.pick(ZONES);
  const local = randomLocal(random);
  const start = luxonInstant(zone, local);
  const cycle = random.chance(0.4) ? 'calendar' : 'anniversary';
  const unit = random.pick(UNITS);
  // Only an anchor says which of two months of a calendar is the first.
  const count = cycle === 'anniversary' && unit !== 'ANNUAL' && random.chance(0.2) ? 2 : 1;
  const days = roughDays(unit, count);
  const isAnchored = cycle === 'anniversary' && MONTHS[unit] > 0 && random.chance(0.2);
  return {
    ...NOTHING_MORE,
    ...{ kind: 'groups', zone, start, cycle, unit, count, phase: null, commitment: null },
    anchor: isAnchored ? luxonInstant(zone, local + (2 + random.below(days)) * DAY) : null,
    ...{ end: null, periods: days > 200 ? 2 : 3 + random.below(days > 80 ? 1 : 3) },
    currency: random.pick(['usd', 'usd', 'jpy']),
    ...ofOwn(random, { unit, count }, ''),
  };
}

/** What each contract of a group has of its own. */
export function ofOwn(random: Random, own: Pick<Contract, 'unit' | 'count'>, suffix: string) {
  const line = () => ({
    ...cadence(random, own),
    ...{ during: null, model: randomModel(random), later: null },
  });
  return {
    prorated: random.chance(0.5),
    grouped: random.chance(0.4),
    fees: Array.from({ length: 1 + random.below(2) }, (_, index): Fee => ({
      ...{ ...line(), name: `fee ${index}${suffix}` },
      ...{ advance: random.chance(0.7), quantity: 1 + random.below(5) },
    })),
    services: Array.from({ length: random.below(3) }, (_, index): Service => ({
      ...{ ...line(), name: `service ${index}${suffix}`, max: random.chance(0.2) },
      ...{ bucket: null, commitment: null },
      free: random.chance(0.3)
        ? { limit: random.below(120), reset: null, isSoft: false, quota: null, own: null }
        : null,
    })),
    off: random.chance(0.4)
      ? { percent: 1 + random.below(100), periods: random.pick([null, 1, 2, 3]) }
      : null,
    taxes: Array.from({ length: random.below(3) }, () => ({
      percent: random.pick(['8.25', '19', '7', '0.5', '21', '10']),
      inclusive: random.chance(0.4),
    })),
    credits: random.chance(0.3) ? 1 + random.below(300) : 0,
  };
}

/** A contract that is cancelled, ends, changes quantities, or runs on. */
function withEnding(random: Random, contract: Contract): Contract {
  const { periods } = new Account(contract, []);
  const until = periods[contract.periods - 1]!.end;
  switch (random.below(5)) {
    case 0:
    case 1:
      return { ...contract, cancelled: cancellation(random, contract) };
    case 2:
      return { ...contract, end: within(random, contract.start + GRACE_MS, until) };
    default:
      return contract;
  }
}

const within = (random: Random, from: number, to: number): number =>
  from + 1 + Math.floor((to - from - 2) * random.next());

/** When a contract ends, or ceases to be watched. */
function endOf(contract: Contract): number {
  const { periods } = new Account(contract, []);
  const last = (periods[contract.periods - 1] ?? periods.at(-1)!).end;
  return Math.min(last, contract.cancelled?.at ?? last);
}

/** From when on no contract joins or leaves: its end is planned, or reached. */
const closedFrom = (contract: Contract): number =>
  Math.min(endOf(contract), contract.cancelled?.asked ?? Infinity);

/** Null: there is no time for it. */
function randomChild(random: Random, parent: Contract, index: number): Child | null {
  const { periods } = new Account({ ...parent, end: null, cancelled: null }, []);
  const lived = periods.slice(0, parent.periods);
  const until = closedFrom(parent);
  const begin = random.pick([
    parent.start,
    random.pick(lived).start,
    within(random, parent.start, until),
  ]);
  const start = begin < until && !endsOnItsDay(parent.zone, begin, periods) ? begin : parent.start;
  const { zone, cycle, unit, count, currency } = parent;
  const plain: Contract = {
    ...parent,
    ...{ zone, start, cycle, unit, count, currency, members: [], cancelled: null, end: null },
    anchor: cycle === 'calendar' ? null : (parent.anchor ?? parent.start),
    ...ofOwn(random, { unit, count }, ` of child ${index}`),
    periods: lived.filter(({ end }) => end > start).length,
  };
  const ended = withEnding(random, plain);
  const isQuiet = ended.end === null && ended.cancelled === null;
  const contract =
    isQuiet && parent.taxes.length === 0 && random.chance(0.4) ? withChanges(random, ended) : ended;
  const last = Math.min(until, closedFrom(contract));
  const [earliest, latest] = [start, last];
  const joins =
    random.chance(0.4) && latest - earliest > GRACE_MS ? within(random, earliest, latest) : null;
  const from = joins ?? start;
  const leaves =
    random.chance(0.3) && latest - from > GRACE_MS ? within(random, from, latest) : null;
  return { contract, joins, leaves, asked: random.pick(['parent', 'child']) };
}

/** A first period does not end on the day on which it begins (billing 1.4): the child would wait for its parent. */
export const endsOnItsDay = (zone: string, start: number, periods: readonly Time[]): boolean => {
  const end = periods.find((period) => period.end > start)?.end ?? start;
  return luxonLocal(zone, start).hasSame(luxonLocal(zone, end), 'day');
};

/** Usage of all contracts, some of it late. */
export function randomGroupUses(random: Random, { parent, children }: Group): GroupUse[] {
  return [parent, ...children.map(({ contract }) => contract)].flatMap((contract, of) => {
    const { periods } = new Account(contract, []);
    const last = (periods[contract.periods] ?? periods.at(-1)!).end;
    return contract.services.flatMap(({ name: service }) =>
      Array.from({ length: random.below(16) }, (): GroupUse => {
        const at = random.chance(0.25)
          ? random.pick(periods).start - random.pick([0, 1])
          : contract.start + Math.floor(random.next() * (last - contract.start));
        const use: Use = {
          ...{ service, at, value: String(random.below(400) / random.pick([1, 4])) },
          by: random.below(contract.members.length + 1),
        };
        const end = periods.find(({ start, end }) => start <= at && at < end)?.end;
        const late = end === undefined || random.chance(0.75) ? null : random.pick([0.3, 0.8, 1.7]);
        return { ...use, of, arrives: late === null ? null : Math.floor(end! + late * GRACE_MS) };
      }),
    );
  });
}
