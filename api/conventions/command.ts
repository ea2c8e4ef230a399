import { BillingError } from '../../domain/errors.ts';
import { failpoint } from '../../platform/failpoint.ts';
import type { Transaction } from '../../postgres/client.ts';
import type { BillingDeps } from '../deps.ts';

/** Maximum attempts of a command whose input changes between its read and its write. */
const ATTEMPTS_MAX = 5;

/** Locks what was read and writes the result; null if it has changed since the read. */
export type CommandWrite<Done> = (tx: Transaction) => Promise<Done | null>;

/**
 * A command with optimistic concurrency. Each attempt reads versions and computes outside of any lock, where
 * usage may be queried. The write it returns runs in one transaction, if the versions are unchanged. With an
 * idempotency key the transaction also stores the result: a repeat after a crash returns that and writes
 * nothing. An attempt that finds the work done returns `{ done }`. `Done` is JSON.
 */
export async function runCommand<Done>(
  { pool, claims = [] }: Pick<BillingDeps, 'pool' | 'claims'>,
  noun: string,
  attempt: () => Promise<CommandWrite<Done> | { readonly done: Done }>,
): Promise<Done> {
  const earlier = claims.find(({ result }) => result !== undefined);
  if (earlier !== undefined) return earlier.result as Done;
  for (let tried = 0; tried < ATTEMPTS_MAX; tried += 1) {
    const write = await attempt();
    if (typeof write !== 'function') return write.done;
    const done = await pool.begin(async (tx) => {
      const written = await write(tx);
      if (written !== null) for (const claim of claims) await claim.note(tx, written);
      return written;
    });
    failpoint('command.after_commit');
    if (done !== null) return done as Done;
  }
  throw new BillingError(
    'conflict',
    'version_conflict',
    `The ${noun} was changed by other requests each time. Repeat the request.`,
  );
}
