import type { Random } from '../../support/random.ts';
import type { Addon, Contract, Free, LimitChange, Service } from './contract.ts';
import { Account } from './naive-contract.ts';
import { cancellation, unpaused, withAddons, withPauses } from './random-traits.ts';

/** Free usage from the plan, addons and the subscription itself, with pauses or a cancellation in mid-life. */
export function withQuotas(random: Random, plain: Contract): Contract {
  const services = plain.services.map((service): Service => {
    const { free } = service;
    const canCount = !service.max && service.bucket === null;
    if (free !== null && canCount && random.chance(0.5))
      return { ...service, free: { ...free, ...inWindows(random) } };
    const own =
      free?.own !== undefined && free.own !== null
        ? free.own
        : random.chance(0.5)
          ? { limit: limitOf(random), replaces: random.chance(0.5) }
          : null;
    return free === null
      ? service
      : { ...service, free: { ...free, limit: limitOf(random), isSoft: random.chance(0.5), own } };
  });
  let contract: Contract = { ...plain, services };
  const end = random.pick(['none', 'pauses', 'cancelled'] as const);
  if (end === 'pauses') contract = withPauses(random, contract);
  if (end === 'cancelled') contract = { ...contract, cancelled: cancellation(random, contract) };
  contract = withAddons(random, contract);
  return {
    ...contract,
    addons: contract.addons
      .filter((addon) => isOver(contract, addon))
      .map((addon) => ({
        ...addon,
        allowances: services
          .filter(({ free }) => free !== null && free.quota === null && random.chance(0.7))
          .map(({ name, free }) => ({
            ...{ service: name, limit: limitOf(random), reset: free!.reset, quota: null },
          })),
      })),
  };
}

/** A quota of the plan in windows of time. */
export function inWindows(random: Random): Pick<Free, 'limit' | 'reset' | 'own' | 'quota'> {
  const unit = random.pick(['hour', 'hour', 'day', 'week', 'subscription_period'] as const);
  const length = unit === 'hour' ? 1 + random.below(60) : unit === 'day' ? 1 + random.below(4) : 1;
  const quota = { units: 1 + random.below(150), unit, length, withUnit: random.chance(0.5) };
  return { limit: null, reset: null, own: null, quota };
}

export const limitOf = (random: Random): number | null =>
  random.chance(0.08) ? null : random.below(120);

/** Whether all that happens to an addon happens before the subscription is cancelled. */
export function isOver({ cancelled }: Contract, { attached, detached }: Addon): boolean {
  if (cancelled === null) return true;
  return Math.max(attached, detached?.at ?? 0) < Math.min(cancelled.asked, cancelled.at);
}

/** Free usage of which the subscription has its own limits, which change in mid-life. */
export function withLimits(random: Random, plain: Contract): Contract {
  const services = plain.services.map((service): Service => {
    const canBeFree = service.free !== null || (!service.max && service.bucket === null);
    const free = service.free ?? { limit: 0, reset: null, isSoft: false, quota: null };
    const own = { limit: limitOf(random), replaces: random.chance(0.5) };
    return canBeFree ? { ...service, free: { ...free, limit: limitOf(random), own } } : service;
  });
  const contract = withQuotas(random, { ...plain, services });
  const { periods } = new Account(contract, []);
  const until = Math.min(
    (periods[contract.periods] ?? periods.at(-1)!).end,
    ...(contract.cancelled === null ? [] : [contract.cancelled.asked, contract.cancelled.at]),
  );
  const limits = contract.services
    .filter(({ free }) => free !== null && free.own !== null)
    .flatMap(({ name }) =>
      Array.from({ length: random.below(4) }, (): LimitChange => {
        const at = contract.start + 1 + Math.floor((until - contract.start - 2) * random.next());
        return { service: name, at: unpaused(contract, at), limit: limitOf(random) };
      }),
    );
  return {
    ...contract,
    limits: limits.filter(({ at }) => at < until).sort((left, right) => left.at - right.at),
  };
}
