import type { Random } from '../../support/random.ts';
import type { Addon, Contract } from './contract.ts';
import { roughDays } from './naive-calendar.ts';
import { DAY } from './random-offer.ts';
import { isOver, limitOf } from './random-quotas.ts';
import { cancellation, withAddons } from './random-traits.ts';

/** Addons of a contract with phases: attached in one of them, and kept or ended in the next one. */
export function withPhaseAddons(random: Random, plain: Contract): Contract {
  const tried = random.chance(0.3) ? withTrial(random, plain) : plain;
  const { off, phase } = tried;
  const isOfPhase = phase !== null && off !== null && random.chance(0.5);
  const phased: Contract = isOfPhase
    ? { ...tried, off: { ...off, periods: null, phase: random.pick(['first', 'second'] as const) } }
    : tried;
  const contract = withAddons(random, phased);
  const addons = contract.addons
    .map((addon, index) => atTurn(random, contract, addon, index))
    .map((addon) => ({ ...addon, allowances: allowances(random, contract) }));
  return withEnd(random, { ...contract, addons });
}

/** A trial, in which the second phase may begin. */
function withTrial(random: Random, plain: Contract): Contract {
  const trial = 1 + random.below(Math.min(roughDays(plain.unit, plain.count), 30));
  const end = plain.end === null ? null : plain.end + trial * DAY;
  return { ...plain, trial, anchor: null, end };
}

/** Some begin or end with the second phase, or milliseconds beside it; no two at one instant. */
function atTurn(random: Random, { start, phase }: Contract, addon: Addon, index: number): Addon {
  if (phase === null) return addon;
  const turn = phase + random.pick([-1, 0, 1]) + 3 * index;
  const { attached, detached } = addon;
  const isLater = detached === null || detached.at > turn;
  if (random.chance(0.2) && turn > start && isLater) return { ...addon, attached: turn };
  const ends = detached !== null && detached.now && attached < turn && random.chance(0.3);
  return ends ? { ...addon, detached: { ...detached, at: turn } } : addon;
}

const allowances = (random: Random, { services }: Contract): Addon['allowances'] =>
  services.flatMap(({ name: service, free }) =>
    free === null || !random.chance(0.5)
      ? []
      : [{ service, limit: limitOf(random), reset: free.reset, quota: null }],
  );

/** It may be cancelled after the last change. */
function withEnd(random: Random, contract: Contract): Contract {
  if (random.chance(0.6)) return contract;
  const ends = Array.from({ length: 20 }, () => cancellation(random, contract));
  const isLast = (cancelled: Contract['cancelled']) =>
    contract.addons.every((addon) => isOver({ ...contract, cancelled }, addon));
  return { ...contract, cancelled: ends.find(isLast) ?? null };
}
