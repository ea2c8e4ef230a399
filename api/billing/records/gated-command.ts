import { BillingError } from '../../../domain/errors.ts';
import type { Db } from '../../../postgres/client.ts';
import { requestFingerprint } from '../../../postgres/tables/idempotency.ts';
import { runCommand, type CommandWrite } from '../../conventions/command.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { findActiveCheckout, updateCheckout } from './checkout-repository.ts';

/** A request that may open a checkout session. */
export interface GatedRequest {
  /** What is asked for, with the ids of its path. */
  readonly path: string;
  readonly body: unknown;
  /** The key of its session; without one each request is new. */
  readonly key: string | null | undefined;
  /** The field of the key. */
  readonly field: string;
}

/** A request whose field `checkout` asks for a session. */
export const withCheckout = (
  path: string,
  body: { readonly checkout?: { readonly idempotency_key?: string | null } | null },
): GatedRequest => ({
  ...{ path, body },
  key: body.checkout?.idempotency_key,
  field: 'checkout.idempotency_key',
});

/**
 * `runCommand` for a request that may open a checkout session. While the session is active, the same request with its
 * key returns what the first one returned, also if both arrive together; 409 for another request with the key, because
 * the session sells something else (money 11.10). `sessionOf`: the id of the session that a result opened.
 */
export async function runGatedCommand<Done>(
  deps: BillingDeps,
  caller: Caller,
  noun: string,
  request: GatedRequest,
  sessionOf: (done: Done) => string | null,
  attempt: () => Promise<CommandWrite<Done>>,
): Promise<Done> {
  if (request.key == null) return await runCommand(deps, noun, attempt);
  const once = async () => {
    const known = await firstResult<Done>(deps.pool, caller, request);
    if (known !== null) return known;
    const write = await attempt();
    return async (tx: Parameters<typeof write>[0]) => {
      const done = await write(tx);
      const session = done === null ? null : sessionOf(done);
      if (session !== null)
        await updateCheckout(tx, caller.scope, session, {
          request_fingerprint: fingerprintOf(request),
          request_result: { done },
          ...changed(deps, caller),
        });
      return done;
    };
  };
  try {
    return await runCommand(deps, noun, once);
  } catch (error) {
    // An equal request may have opened the session meanwhile; then this one meets it, or what it sells.
    if (!(error instanceof BillingError) || error.kind !== 'conflict') throw error;
    const known = await firstResult<Done>(deps.pool, caller, request);
    if (known === null) throw error;
    return known.done;
  }
}

/** What the request returned that opened the active session of the key; null without one. 409 for another request. */
async function firstResult<Done>(
  db: Db,
  { scope }: Caller,
  request: GatedRequest,
): Promise<{ readonly done: Done } | null> {
  const known = await findActiveCheckout(db, scope, request.key!);
  if (known === null) return null;
  if (known.request_fingerprint === fingerprintOf(request) && known.request_result !== null)
    return known.request_result as { readonly done: Done };
  const message = 'is used by the session of another request';
  throw new BillingError('conflict', 'idempotency_key_reused', `${request.field}: ${message}.`, [
    { path: request.field, code: 'idempotency_key_reused', message },
  ]);
}

const fingerprintOf = ({ path, body }: GatedRequest) => requestFingerprint('POST', path, body);
