import { randomUUID } from 'node:crypto';
import { failpoint } from '../failpoint.ts';
import type { Pool, Scope } from '../../postgres/client.ts';
import {
  claimCommand,
  type CommandClaim,
  type KeyState,
  type StoredAnswer,
} from '../../postgres/tables/idempotency.ts';

/** A claim counts as dead after four missed heartbeats. */
const SIGN_OF_LIFE_MS = 15_000;

export interface KeyedCommand {
  readonly key: string;
  /** Two requests are the same if these are equal. */
  readonly fingerprint: string;
  /** Success status of the route. */
  readonly status: number;
  /** The answer is not stored: it contains a credential. */
  readonly isSecret?: boolean;
}

/**
 * Runs a command once per idempotency key: claims first, lets the command own its transactions, and stores
 * the answer last. After a crash in between, a repeat takes over the claim 60 s after its last heartbeat
 * (money 2.10.2). If the command had its effect, the repeat finds the result in the claim and only answers. A
 * refusal or a failure without effect is not stored, so a repeat after one runs again.
 */
export async function doOnce(
  pool: Pool,
  scope: Scope,
  command: KeyedCommand,
  work: (claim: CommandClaim) => Promise<unknown>,
): Promise<Exclude<KeyState, { state: 'new' }> | { state: 'done'; answer: StoredAnswer }> {
  const { key, fingerprint, status } = command;
  const ids = { claim_id: randomUUID(), holder: randomUUID() };
  const claimed = await claimCommand(pool, scope, key, fingerprint, ids);
  if (claimed.state !== 'claimed') return claimed;
  const { claim } = claimed;
  // A failed heartbeat does not stop the command: the claim is fenced where the command writes.
  const signs = setInterval(() => void claim.stayAlive().catch(() => {}), SIGN_OF_LIFE_MS);
  signs.unref();
  try {
    const body = await work(claim);
    failpoint('idempotency.before_answer');
    await claim.finish({ status, body: command.isSecret === true ? null : body });
    return { state: 'done', answer: { status, body } };
  } catch (error) {
    // If the database is unavailable too, the claim expires.
    await claim.release().catch(() => {});
    throw error;
  } finally {
    clearInterval(signs);
  }
}
