import type { Random } from '../../support/random.ts';
import type { Contract } from './contract.ts';
import { NOTHING_MORE, randomContract } from './random-contract.ts';

/** Kinds whose contracts have what a preview may show. */
const KINDS = [
  'amended', 'amended', 'amended', 'everything', 'plans', 'trials', 'families', 'units', 'quotas', 'windows', 'trial phases',
] as const; // prettier-ignore

/** A contract of another kind, without what happens to it: that is drawn as it runs. */
export function withPreviews(random: Random): Contract {
  const contract = randomContract(random, random.pick(KINDS));
  const { pauses, changes, edits, cancelled, limits, grants } = NOTHING_MORE;
  return {
    ...contract,
    ...{ kind: 'previews', pauses, changes, edits, cancelled, limits, grants: [...grants] },
    ...{ trialMoves: [], periods: Math.min(contract.periods, 4) },
    members: contract.members.map(() => ({ joins: null, leaves: null })),
  };
}
