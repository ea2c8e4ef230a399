import type { Random } from '../../support/random.ts';
import type { Contract, Fee, PlanMove, Service } from './contract.ts';
import { roughDays } from './naive-calendar.ts';
import { Account } from './naive-contract.ts';
import { DAY, cadence, randomModel } from './random-offer.ts';

/** One to three changes of the plan, each after the one before took effect. */
export function withMoves(
  random: Random,
  plain: Contract,
  trials = 0.2,
  canMove: (move: PlanMove) => boolean = () => true,
): Contract {
  const days = roughDays(plain.unit, plain.count);
  const trial = random.chance(trials) ? 1 + random.below(Math.min(days, 30)) : 0;
  let contract: Contract = {
    ...plain,
    trial,
    anchor: trial > 0 ? null : plain.anchor,
    end: plain.end === null ? null : plain.end + trial * DAY,
    services: plain.services.map((service) => ({ ...service, ...ofOnePeriod(service) })),
  };
  for (let left = 1 + random.below(3); left > 0; left -= 1) {
    const move = randomMove(random, contract);
    if (move !== null && canMove(move))
      contract = { ...contract, moves: [...contract.moves, move] };
  }
  return contract;
}

/** A commitment of a line ends with the line; what that makes of a longer term is not told here. */
export const ofOnePeriod = ({ unit, count, commitment }: Service): Pick<Service, 'commitment'> => ({
  commitment:
    commitment !== null && roughDays(commitment.duration ?? unit) > roughDays(unit, count)
      ? { ...commitment, duration: null }
      : commitment,
});

/** Null: there is no time for it. */
function randomMove(random: Random, contract: Contract): PlanMove | null {
  const { periods } = new Account(contract, []);
  const trial = { start: contract.start, end: periods[0]!.start };
  const lived = [...(contract.trial > 0 ? [trial] : []), ...periods.slice(0, contract.periods)];
  const period = random.pick(lived);
  const from = Math.max(period.start, contract.moves.at(-1)?.at ?? 0);
  const within = (start: number, end: number) =>
    start + 1 + Math.floor((end - start - 2) * random.next());
  const asked = within(from, period.end);
  const isLater = random.chance(0.3) && period.end !== contract.end;
  if (asked <= from || asked >= period.end) return null;
  const canRestart = contract.cycle === 'anniversary' && period !== trial;
  const before = within(from, asked);
  return {
    ...targetPlan(random, contract),
    asked,
    at: isLater ? period.end : asked,
    restarts: canRestart && random.chance(0.3),
    prorated: isLater ? null : random.pick([null, null, true, false]),
    isEarlierForm: false,
    supersedes:
      random.chance(0.3) && before > from && before < asked && period.end !== contract.end
        ? before
        : null,
  };
}

/** Fees of its own, the first of which fits; services of the first plan at other prices, and some of its own. */
function targetPlan(
  random: Random,
  { unit, count, services, moves }: Contract,
): Pick<PlanMove, 'fees' | 'services'> {
  const own = { unit, count };
  const plan = moves.length + 1;
  const line = () => ({
    ...(random.chance(0.8) ? own : cadence(random, own)),
    during: null,
    model: randomModel(random),
    later: null,
  });
  const kept = services
    .filter(() => random.chance(0.7))
    .map((service): Service => {
      const canBeFree = service.free !== null || !(service.max && service.bucket !== null);
      const free =
        canBeFree && random.chance(0.5)
          ? {
              limit: random.below(120),
              reset: service.free?.reset ?? null,
              isSoft: false,
              quota: null,
              own: null,
            }
          : null;
      return { ...service, ...line(), free, commitment: null };
    });
  return {
    fees: Array.from({ length: 1 + random.below(2) }, (_, index): Fee => ({
      ...line(),
      ...(index === 0 ? own : {}),
      name: `fee ${index} of plan ${plan}`,
      advance: random.chance(0.7),
      quantity: 1,
    })),
    services: random.chance(0.6)
      ? kept
      : [
          ...kept,
          {
            ...{ ...line(), name: `service of plan ${plan}` },
            ...{ max: false, bucket: null, free: null, commitment: null },
          },
        ],
  };
}
