import type { Random } from '../../support/random.ts';
import type { Addon, Allowance, Contract, Free, PlanMove, Service } from './contract.ts';
import { withMoves } from './random-moves.ts';
import { inWindows, isOver, limitOf } from './random-quotas.ts';
import { cancellation, withAddons } from './random-traits.ts';

/**
 * Plans that make usage free in different ways, one after the other, with addons and limits of the subscription itself
 * beside them. Much of the usage arrives late.
 */
export function withPlanQuotas(
  random: Random,
  plain: Contract,
  trials = 0.2,
  canMove: (move: PlanMove) => boolean = () => true,
): Contract {
  const first = plain.services.map((service): Service => ({
    ...service,
    free: freeFirst(random, service),
  }));
  const moved = withMoves(random, { ...plain, services: first }, trials, canMove);
  const moves = moved.moves.map((move): PlanMove => ({
    ...move,
    services: move.services.map((service) => ({
      ...service,
      free: freeLater(random, first, service),
    })),
    isEarlierForm: move.supersedes === null && random.chance(0.4),
  }));
  const changed: Contract = { ...moved, moves };
  const contract = withAddons(random, changed);
  const addons = contract.addons.map((addon) => ({
    ...addon,
    allowances: allowances(random, changed, addon),
  }));
  return withEnd(random, { ...contract, addons });
}

const canCount = ({ max, bucket }: Service): boolean => !max && bucket === null;

function freeFirst(random: Random, service: Service): Free | null {
  const { free } = service;
  if (free === null && !canCount(service)) return null;
  if (canCount(service) && random.chance(0.4)) return { ...NOTHING, ...inWindows(random) };
  if (free === null && random.chance(0.4)) return null;
  const own = random.chance(0.4) ? { limit: limitOf(random), replaces: random.chance(0.5) } : null;
  return { ...(free ?? NOTHING), limit: limitOf(random), isSoft: random.chance(0.5), own };
}

/** Limits of one service reset alike under all plans: those of addons and of the subscription go on. */
function freeLater(random: Random, first: readonly Service[], service: Service): Free | null {
  const before = first.find(({ name }) => name === service.name)?.free ?? null;
  if (before === null && !canCount(service)) return null;
  if (canCount(service) && random.chance(0.5)) {
    const { quota, ...drawn } = inWindows(random);
    const own = before?.quota != null && random.chance(0.6) ? before.quota : quota!;
    return { ...NOTHING, ...drawn, quota: { ...own, units: quota!.units } };
  }
  if (random.chance(0.3)) return null;
  return { ...NOTHING, reset: before?.reset ?? null, limit: limitOf(random) };
}

const NOTHING: Free = { limit: 0, reset: null, isSoft: false, quota: null, own: null };

/** What an addon makes free of services of the plan in which it is attached: one that conflicts is refused. */
function allowances(random: Random, contract: Contract, { attached }: Addon): Allowance[] {
  const plans = [contract, ...contract.moves];
  const plan = plans[contract.moves.filter(({ at }) => at <= attached).length]!;
  return plan.services.flatMap(({ name: service, free }): Allowance[] => {
    if (free === null || !random.chance(0.6)) return [];
    const { quota, reset } = free;
    if (quota === null) return [{ service, limit: limitOf(random), reset, quota }];
    const isAlike = plans.every(({ services }) => {
      const other = services.find(({ name }) => name === service)?.free?.quota;
      return other != null && other.unit === quota.unit && other.length === quota.length;
    });
    const units = 1 + random.below(40);
    return isAlike ? [{ service, limit: null, reset: null, quota: { ...quota, units } }] : [];
  });
}

/** It may be cancelled after the last change. */
function withEnd(random: Random, contract: Contract): Contract {
  if (random.chance(0.5)) return contract;
  const last = Math.max(0, ...contract.moves.map(({ at }) => at));
  const ends = Array.from({ length: 20 }, () => cancellation(random, contract));
  const isLast = (cancelled: Contract['cancelled']) =>
    Math.min(cancelled!.asked, cancelled!.at) > last &&
    contract.addons.every((addon) => isOver({ ...contract, cancelled }, addon));
  return { ...contract, cancelled: ends.find(isLast) ?? null };
}
