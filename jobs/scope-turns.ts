import { isOutage } from '../api/outage.ts';
import type { Scope } from '../postgres/client.ts';
import { JobLeaseLost } from '../postgres/tables/job-leases.ts';
import type { JobRun } from './job.ts';

/** Processes one page of a scope; returns whether there may be more. */
export type Turn = () => Promise<boolean>;

/** The run ends after this many consecutive scopes with an outage: the store is unavailable for all. */
const OUTAGES_MAX = 3;

/**
 * Gives each environment one page in turn until none has more, so that a large environment does not block the
 * others. Each run starts with another environment. An environment whose turn fails gets no further turn in
 * this run; the others continue. Throws the first failure if no turn succeeded.
 */
export async function takeTurns(
  run: Pick<JobRun, 'lease' | 'signal' | 'fail'>,
  scopes: readonly Scope[],
  turnOf: (scope: Scope) => Turn,
): Promise<void> {
  let waiting = rotated(scopes, run.lease.generation).map((scope) => ({
    scope,
    turn: turnOf(scope),
  }));
  let failure: { readonly error: unknown } | null = null;
  let succeeded = 0;
  let outages = 0;
  while (waiting.length > 0) {
    const next: typeof waiting = [];
    for (const each of waiting) {
      if (run.signal.aborted) return;
      try {
        if (await each.turn()) next.push(each);
        succeeded += 1;
        outages = 0;
      } catch (error) {
        if (error instanceof JobLeaseLost) throw error;
        failure ??= { error };
        run.fail?.({ ...each.scope }, error, 'an environment is left for the next run');
        outages = isOutage(error) ? outages + 1 : 0;
        if (outages === OUTAGES_MAX) throw error;
      }
    }
    waiting = next;
  }
  if (failure !== null && succeeded === 0) throw failure.error;
}

/** Rotates the scopes: each generation starts with another one. */
function rotated(scopes: readonly Scope[], generation: string): Scope[] {
  if (scopes.length === 0) return [];
  const first = Number(BigInt(generation) % BigInt(scopes.length));
  return [...scopes.slice(first), ...scopes.slice(0, first)];
}
