import type { FastifyReply, FastifyRequest } from 'fastify';
import { BillingError } from '../../domain/errors.ts';
import type { Transaction } from '../../postgres/client.ts';
import { isPostgresRace } from '../../postgres/outage.ts';
import {
  claimIdempotencyKey,
  keepAnswer,
  poolWithin,
  requestFingerprint,
  type KeyState,
} from '../../postgres/tables/idempotency.ts';
import type { Identity } from '../identity/identity.ts';
import { doOnce } from './command-once.ts';
import { CONDITION_ISOLATION, preconditionFailed } from './conditional.ts';
import { onlyReads, type Route, type RouteDeps } from './route.ts';

export interface RequestWork<Deps> {
  readonly identity: Identity;
  readonly deps: Deps;
  /** Whether the request has an `If-Match`, which is compared in the transaction that writes. */
  readonly isConditional: boolean;
  run(deps: Deps): Promise<unknown>;
}

interface KeyedWork<Deps> extends RequestWork<Deps> {
  readonly key: string | null;
}

/** Runs the handler: once per idempotency key, and in one transaction where the key or a condition needs it. */
export async function runRequest<Deps extends RouteDeps>(
  route: Route<Deps>,
  request: FastifyRequest,
  reply: FastifyReply,
  work: RequestWork<Deps>,
): Promise<unknown> {
  const key = idempotencyKeyOf(route, request);
  if (key === null && !work.isConditional) return await work.run(work.deps);
  return key !== null && route.ownsTransactions === true
    ? await runCommandOnce(route, request, reply, { ...work, key })
    : await runInTransaction(route, request, reply, { ...work, key });
}

/** The idempotency key of a request that changes something; null for reads. */
function idempotencyKeyOf<Deps>(route: Route<Deps>, request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined || onlyReads(route)) return null;
  // A public call has no scope in which to look up a key.
  if (route.permission === 'public') return null;
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  const message = 'has 1 to 255 visible ASCII characters';
  throw new BillingError('invalid', 'validation_error', `Idempotency-Key: ${message}`, [
    { path: 'Idempotency-Key', code: 'invalid_value', message },
  ]);
}

/** With a condition, a concurrent change of the record results in 412, not in a lost update. */
async function runInTransaction<Deps extends RouteDeps>(
  route: Route<Deps>,
  request: FastifyRequest,
  reply: FastifyReply,
  work: KeyedWork<Deps>,
): Promise<unknown> {
  const { key, deps, isConditional } = work;
  const inside = (tx: Transaction): Promise<unknown> =>
    key === null
      ? work.run({ ...deps, pool: poolWithin(tx) })
      : runOnce(route, request, reply, tx, { ...work, key });
  if (!isConditional) return await deps.pool.begin(inside);
  try {
    return await deps.pool.begin(CONDITION_ISOLATION, inside);
  } catch (error) {
    throw isPostgresRace(error) ? preconditionFailed(null) : error;
  }
}

/** Runs a command that owns its transactions, or returns the stored answer of the first run. */
async function runCommandOnce<Deps extends RouteDeps>(
  route: Route<Deps>,
  request: FastifyRequest,
  reply: FastifyReply,
  work: KeyedWork<Deps> & { readonly key: string },
): Promise<unknown> {
  const { identity, deps } = work;
  const command = {
    ...keyOf(request, work),
    status: route.status,
    isSecret: route.secretAnswer === true,
  };
  const once = await doOnce(deps.pool, identity, command, (claim) =>
    work.run({ ...deps, claims: [claim] }),
  );
  return once.state === 'done' ? once.answer.body : repeated(route, reply, once);
}

/**
 * Runs the work and stores its answer in one transaction, or returns the stored answer of the first run. A
 * refusal or a failure is not stored, so a repeat after one runs again.
 */
async function runOnce<Deps extends RouteDeps>(
  route: Route<Deps>,
  request: FastifyRequest,
  reply: FastifyReply,
  tx: Transaction,
  work: KeyedWork<Deps> & { readonly key: string },
): Promise<unknown> {
  const { identity, deps } = work;
  const { key, fingerprint } = keyOf(request, work);
  const claim = await claimIdempotencyKey(tx, identity, key, fingerprint);
  if (claim.state !== 'new') return repeated(route, reply, claim);
  const body = await work.run({ ...deps, pool: poolWithin(tx) });
  const kept = route.secretAnswer === true ? null : body;
  await keepAnswer(tx, identity, key, fingerprint, { status: route.status, body: kept });
  return body;
}

/** Idempotency keys of end customers are separate from the tenant's and from each other's. */
const keyOf = (
  request: FastifyRequest,
  { key, identity }: { readonly key: string; readonly identity: Identity },
) => ({
  key: identity.kind === 'customer' ? `${identity.customer_id}:${key}` : key,
  fingerprint: requestFingerprint(request.method, request.url, request.body),
});

/** The stored answer of the first request, or the reason why there is none. */
function repeated(
  route: Pick<Route, 'secretAnswer'>,
  reply: FastifyReply,
  claim: Exclude<KeyState, { state: 'new' }>,
): unknown {
  if (claim.state === 'busy') {
    const message = 'A request with this Idempotency-Key is running. Repeat it shortly.';
    throw new BillingError('conflict', 'idempotency_key_in_use', message);
  }
  if (claim.state === 'reused') {
    const message = 'This Idempotency-Key was used for a different request.';
    throw new BillingError('conflict', 'idempotency_key_reused', message);
  }
  if (route.secretAnswer === true) {
    const message = 'The request was done. Its answer showed a credential and was not kept.';
    throw new BillingError('conflict', 'answer_not_kept', message);
  }
  void reply.header('idempotent-replayed', 'true');
  return claim.answer.body;
}
