import { randomUUID } from 'node:crypto';
import { failpoint } from '../failpoint.ts';
import type { Pool, Scope } from '../../postgres/client.ts';
import {
  claimCommand,
  type CommandClaim,
  type KeyState,
  type StoredAnswer,
} from '../../postgres/tables/idempotency.ts';

/** Four signs of life before a claim counts as dead. */
const SIGN_OF_LIFE_MS = 15_000;

export interface KeyedCommand {
  readonly key: string;
  /** What has to be equal for two requests to be the same one. */
  readonly fingerprint: string;
  /** Success status of the route. */
  readonly status: number;
  /** The answer is not kept: it shows a credential. */
  readonly isSecret?: boolean;
}

/**
 * Does a command once for its idempotency key: claims first, lets the command own its transactions, and
 * keeps the answer last. After a crash in between, a repeat takes the claim up again 60 s after its last
 * sign of life (money 2.10.2): if the command had its effect, the work finds its result in the claim and only
 * answers. Nothing is kept of a refusal or a failure without effect, so a repeat after one really runs.
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
  // A sign that fails is no reason to stop: the claim is fenced where the command writes.
  const signs = setInterval(() => void claim.stayAlive().catch(() => {}), SIGN_OF_LIFE_MS);
  signs.unref();
  try {
    const body = await work(claim);
    failpoint('idempotency.before_answer');
    await claim.finish({ status, body: command.isSecret === true ? null : body });
    return { state: 'done', answer: { status, body } };
  } catch (error) {
    // Where the database is away too, the claim ends by itself.
    await claim.release().catch(() => {});
    throw error;
  } finally {
    clearInterval(signs);
  }
}
