import { BillingError } from '../../domain/errors.ts';
import {
  claimIdempotencyKey,
  keepAnswer,
  poolWithin,
  requestFingerprint,
} from '../../postgres/tables/idempotency.ts';
import type { BillingDeps } from '../deps.ts';
import type { Caller } from './record.ts';

type Asked = Caller & { setHeader(name: string, value: string): void };

/**
 * The work once for the `idempotency_key` of a body, in one transaction with its answer: the same key with
 * the same body answers what was answered first, with another body it is 409 (product 2, Idempotency). Keys
 * of bodies are apart for each `kind` of record, and from those of headers, which have no spaces. Nothing is
 * kept of a refusal. Without a key the work is just done.
 */
export async function oncePerBodyKey<Deps extends BillingDeps, Answer>(
  deps: Deps,
  asked: Asked,
  kind: string,
  body: { readonly idempotency_key?: string | null },
  work: (deps: Deps) => Promise<Answer>,
): Promise<Answer> {
  if (!body.idempotency_key) return await work(deps);
  const key = `${kind} ${body.idempotency_key}`;
  const fingerprint = requestFingerprint('POST', kind, body);
  const answered = await deps.pool.begin(async (tx): Promise<unknown> => {
    const claim = await claimIdempotencyKey(tx, asked.scope, key, fingerprint);
    if (claim.state === 'busy')
      throw conflict('idempotency_key_in_use', 'is used by a request that is running; repeat it');
    if (claim.state === 'reused')
      throw conflict('idempotency_key_reused', 'was used with another body');
    if (claim.state === 'answered') {
      asked.setHeader('idempotent-replayed', 'true');
      return claim.answer.body;
    }
    const answer = await work({ ...deps, pool: poolWithin(tx) });
    await keepAnswer(tx, asked.scope, key, fingerprint, { status: 201, body: answer });
    return answer;
  });
  return answered as Answer;
}

const conflict = (code: string, message: string): BillingError =>
  new BillingError('conflict', code, `idempotency_key: ${message}.`, [
    { path: 'idempotency_key', code, message },
  ]);
