import { BillingError } from '../../domain/errors.ts';
import { doOnce } from '../../platform/http/command-once.ts';
import { requestFingerprint } from '../../postgres/tables/idempotency.ts';
import type { BillingDeps } from '../deps.ts';
import type { Caller } from './record.ts';

type Asked = Caller & { setHeader(name: string, value: string): void };

/**
 * Runs the command once per `idempotency_key` of a body. The same key with the same body returns the first
 * answer; with another body it is 409 (api 2). Keys of bodies are separate for each `kind`
 * of record, and separate from header keys, which have no spaces. A refusal stores nothing. Without a key the
 * command just runs.
 */
export async function oncePerBodyKey<Deps extends BillingDeps, Answer>(
  deps: Deps,
  asked: Asked,
  kind: string,
  body: { readonly idempotency_key?: string | null },
  work: (deps: Deps) => Promise<Answer>,
): Promise<Answer> {
  if (!body.idempotency_key) return await work(deps);
  const command = {
    key: `${kind} ${body.idempotency_key}`,
    fingerprint: requestFingerprint('POST', kind, body),
    status: 201,
  };
  const once = await doOnce(deps.pool, asked.scope, command, (claim) =>
    work({ ...deps, claims: [...(deps.claims ?? []), claim] }),
  );
  if (once.state === 'busy')
    throw conflict('idempotency_key_in_use', 'is used by a request that is running; repeat it');
  if (once.state === 'reused')
    throw conflict('idempotency_key_reused', 'was used with another body');
  if (once.state === 'answered') asked.setHeader('idempotent-replayed', 'true');
  return once.answer.body as Answer;
}

const conflict = (code: string, message: string): BillingError =>
  new BillingError('conflict', code, `idempotency_key: ${message}.`, [
    { path: 'idempotency_key', code, message },
  ]);
