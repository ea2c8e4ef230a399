import type { Random } from '../../support/random.ts';
import type { Addon, Contract, Free, Service } from './contract.ts';
import { cancellation, withAddons, withPauses } from './random-traits.ts';

/** Free usage from the plan, addons and the subscription itself, with pauses or a cancellation in mid-life. */
export function withQuotas(random: Random, plain: Contract): Contract {
  const services = plain.services.map((service): Service => {
    const { free } = service;
    const canCount = !service.max && service.bucket === null;
    if (free !== null && canCount && random.chance(0.5))
      return { ...service, free: { ...free, ...inWindows(random) } };
    const own = random.chance(0.5)
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
          .map(({ name }) => ({ service: name, limit: limitOf(random) })),
      })),
  };
}

/** A quota of the plan in windows of time. */
function inWindows(random: Random): Pick<Free, 'limit' | 'reset' | 'own' | 'quota'> {
  const unit = random.pick(['hour', 'hour', 'day', 'week', 'subscription_period'] as const);
  const length = unit === 'hour' ? 1 + random.below(60) : unit === 'day' ? 1 + random.below(4) : 1;
  const quota = { units: 1 + random.below(150), unit, length, withUnit: random.chance(0.5) };
  return { limit: null, reset: null, own: null, quota };
}

const limitOf = (random: Random): number | null => (random.chance(0.08) ? null : random.below(120));

/** Whether all that happens to an addon happens before the subscription is cancelled. */
function isOver({ cancelled }: Contract, { attached, detached }: Addon): boolean {
  if (cancelled === null) return true;
  return Math.max(attached, detached?.at ?? 0) < Math.min(cancelled.asked, cancelled.at);
}
