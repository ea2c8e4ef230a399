import { luxonInstant } from '../../support/second-calendar.ts';
import type { Random } from '../../support/random.ts';
import { MONTHS, roughDays, type Bucket, type Unit } from './naive-calendar.ts';
import {
  TRAITS,
  type Contract,
  type Fee,
  type Kind,
  type LineCommitment,
  type Model,
  type Service,
  type Trait,
  type Use,
} from './contract.ts';
import { Account } from './naive-contract.ts';
import { DAY, UNITS, cadence, randomModel } from './random-offer.ts';
import { withLines } from './random-lines.ts';
import { withMoves } from './random-moves.ts';
import { withPausedEnd, withPausedLines } from './random-paused-lines.ts';
import { withEverything } from './random-everything.ts';
import { withPausedQuotas } from './random-paused-quotas.ts';
import { withPhaseAddons } from './random-phase-addons.ts';
import { withPlanQuotas } from './random-plan-quotas.ts';
import { withLimits, withQuotas } from './random-quotas.ts';
import { withUnitEnd } from './random-unit-ends.ts';
import { withVersions } from './random-versions.ts';
import { withRates } from './random-rates.ts';
import { withTrial } from './random-trials.ts';
import { withAmendments, withChanges, withEnd, withTraits } from './random-traits.ts';

export const ZONES = [
  'UTC', 'UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Pacific/Auckland',
] as const; // prettier-ignore
/** Leap days, ends of months, and days on which clocks change. */
const DATES = [
  [2024, 2, 29], [2024, 1, 31], [2024, 3, 10], [2024, 3, 31], [2024, 11, 3], [2024, 10, 6], [2025, 12, 30],
  [2024, 1, 1], [2024, 4, 1], [2024, 7, 1], [2024, 8, 31],
] as const; // prettier-ignore
const TIMES = [0, 0, 0, 2.5, 9.5, 23.25] as const;
export const RESETS = ['DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL', 'NEVER', null] as const;
const BUCKETS: readonly Bucket[] = ['6HOUR', 'DAY', 'WEEK', 'MONTH'];

/** A contract of any shape, with what is special about its kind. */
export function randomContract(random: Random, kind: Kind): Contract {
  const traits = traitsOf(random, kind);
  const plain = plainContract(random, kind, traits);
  if (kind === 'ends') return withEnd(random, plain);
  if (kind === 'plans') return withMoves(random, plain);
  if (kind === 'amended') return withAmendments(random, plain);
  if (kind === 'quotas') return withQuotas(random, plain);
  if (kind === 'lines') return withLines(random, plain);
  if (kind === 'trials' || kind === 'trial phases') return withTrial(random, plain);
  if (kind === 'paused lines') return withPausedLines(random, plain);
  if (kind === 'paused ends') return withPausedEnd(random, plain);
  if (kind === 'everything') return withEverything(random, plain);
  if (kind === 'rates') return withRates(random, plain);
  if (kind === 'limits') return withLimits(random, plain);
  if (kind === 'phase addons') return withPhaseAddons(random, plain);
  if (kind === 'versions') return withVersions(random, plain);
  if (kind === 'unit ends') return withUnitEnd(random, plain);
  if (kind === 'paused quotas') return withPausedQuotas(random, plain);
  if (kind === 'plan quotas') return withPlanQuotas(random, plain);
  return kind === 'changes' ? withChanges(random, plain) : withTraits(random, plain, traits);
}

function traitsOf(random: Random, kind: Kind): ReadonlySet<Trait> {
  if (kind !== 'mixed') return new Set(TRAITS.filter((trait) => trait === kind));
  const traits = new Set<Trait>();
  const count = 2 + random.below(2);
  while (traits.size < count) traits.add(random.pick(TRAITS));
  return traits;
}

/** The money of grants, and what is given back, is not converted by the naive account. */
const NOT_CONVERTED: readonly Trait[] = ['units', 'grants', 'addons', 'pauses'];

/** Kinds that nothing amends: they may have phases, and a custom currency. */
const RUN_THROUGH: readonly Kind[] = ['plain', 'mixed', ...TRAITS, 'groups'];

export const NOTHING_MORE = {
  ...{ pauses: [], changes: [], moves: [], addons: [], edits: [], grants: [], grantsOfPlan: false },
  ...{ inUnits: false, members: [], isDelegated: false, trial: 0, cancelled: null },
  ...{ trialOf: 'days' as const, trialMoves: [], creditRate: '1', limits: [], lineOff: null },
};

function plainContract(random: Random, kind: Kind, traits: ReadonlySet<Trait>): Contract {
  const isWindows = traits.has('windows');
  // Only a contract that runs through has phases here.
  const runsThrough = RUN_THROUGH.includes(kind);
  const isPhases = kind === 'trial phases' || kind === 'phase addons';
  const canBePhased = isPhases || (runsThrough && !traits.has('pauses') && !traits.has('addons'));
  const isFiat = !runsThrough || NOT_CONVERTED.some((trait) => traits.has(trait));
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
  const isPhased = canBePhased && random.chance(isPhases ? 0.9 : isWindows ? 0.5 : 0.2);
  const phase = isPhased
    ? start + Math.floor(((end ?? start + length) - start) * (0.1 + random.next() * 0.8))
    : null;
  const isPooled = !isPhased && random.chance(0.2);
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
      isFiat || isPooled
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
      const commitment =
        commits && random.chance(isWindows ? 0.8 : 0.5)
          ? lineCommitment(random, bucket?.size ?? null, isWindows)
          : null;
      // Greatest values of windows are added up; what is free of them is no rule of its own.
      const inWindows = bucket !== null || (commitment?.duration ?? null) !== null;
      return {
        ...price,
        name: `service ${index}`,
        during: null,
        ...modelled(randomModel(random)),
        max,
        bucket,
        free:
          !(max && inWindows) && random.chance(isWindows && max ? 0.8 : 0.4)
            ? {
                limit: random.below(120),
                reset: random.pick(RESETS),
                isSoft: false,
                quota: null,
                own: null,
              }
            : null,
        commitment,
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

export function randomLocal(random: Random): number {
  const [year, month, day] = random.pick(DATES);
  const moved = random.chance(0.5) ? random.below(400) : 0;
  return Date.UTC(year, month - 1, day + moved) + random.pick(TIMES) * 3_600_000;
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

/** Usage at any time of the contract, and at the very ends of its periods. */
export function randomUses(random: Random, contract: Contract): Use[] {
  const { periods } = new Account(contract, []);
  const last = (periods[contract.periods] ?? periods.at(-1)!).end;
  const services = [
    ...[contract, ...contract.addons, ...contract.moves].flatMap((offer) => offer.services),
    ...contract.edits.flatMap((edit) => (edit.kind === 'service' ? [edit.service] : [])),
  ];
  /** Windows of quotas that are open when something changes have usage before and after it. */
  const hasTurns = contract.kind === 'plan quotas' || contract.kind === 'paused quotas';
  const turns = hasTurns ? turnsOf(contract) : [];
  const around = (instant: number) =>
    Math.max(contract.start, instant + Math.floor((random.next() - 0.5) * 6 * DAY));
  /** Kinds that have late usage; earlier seeds of `everything` have it without free usage. */
  const canBeLate = (name: string) =>
    contract.kind === 'plan quotas' ||
    (contract.kind === 'everything' &&
      services.every((one) => one.name !== name || one.free === null));
  return [...new Set(services.map(({ name }) => name))].flatMap((name) =>
    Array.from({ length: random.below(20) }, (): Use => {
      const at =
        turns.length > 0 && random.chance(0.5)
          ? around(random.pick(turns))
          : random.chance(0.25)
            ? random.pick(periods).start - random.pick([0, 1])
            : contract.start + Math.floor(random.next() * (last - contract.start));
      const others = contract.isDelegated ? 1 : contract.members.length;
      const by = others === 0 ? 0 : random.below(others + 1);
      const value = String(random.below(400) / random.pick([1, 4]));
      const late = canBeLate(name)
        ? random.pick([undefined, undefined, 'draft', 'final'] as const)
        : undefined;
      return { by, service: name, at, value, ...(late === undefined ? {} : { late }) };
    }),
  );
}

const turnsOf = ({ moves, addons, pauses }: Contract): number[] => [
  ...moves.map(({ at }) => at),
  ...pauses.flatMap(({ start, end }) => [start, end]),
  ...addons.flatMap(({ attached, detached }) => [attached, ...(detached ? [detached.at] : [])]),
];
