import { createHash } from 'node:crypto';
import type { Pool, Scope, Transaction } from '../client.ts';

/** The answer that the first request with a key got. */
export interface StoredAnswer {
  readonly status: number;
  readonly body: unknown;
}

export type KeyState =
  | { readonly state: 'new' }
  /** Another transaction is working on the same key right now. */
  | { readonly state: 'busy' }
  /** The key was used for a different request. */
  | { readonly state: 'reused' }
  | { readonly state: 'answered'; readonly answer: StoredAnswer };

/**
 * Claims an idempotency key for the length of the transaction. The claim is an advisory lock, so it
 * ends with the transaction however that ends: a crash leaves nothing behind, and a twin is told at
 * once that the key is busy.
 */
export async function claimIdempotencyKey(
  tx: Transaction,
  scope: Scope,
  key: string,
  fingerprint: string,
): Promise<KeyState> {
  const lock = `${scope.tenant_id}/${scope.environment_id}/${key}`;
  const [claim] = await tx<{ claimed: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${lock}, 0)) as claimed`;
  if (!claim!.claimed) return { state: 'busy' };
  const [row] = await tx<{ fingerprint: string; answer_status: number; answer_body: unknown }[]>`
    select fingerprint, answer_status, answer_body
      from idempotency_keys
     where tenant_id = ${scope.tenant_id}
       and environment_id = ${scope.environment_id}
       and key = ${key}`;
  if (row === undefined) return { state: 'new' };
  if (row.fingerprint !== fingerprint) return { state: 'reused' };
  return { state: 'answered', answer: { status: row.answer_status, body: row.answer_body } };
}

/** Stores the answer in the transaction that did the work: both are kept, or neither. */
export async function keepAnswer(
  tx: Transaction,
  scope: Scope,
  key: string,
  fingerprint: string,
  answer: StoredAnswer,
): Promise<void> {
  await tx`
    insert into idempotency_keys
      (tenant_id, environment_id, key, fingerprint, answer_status, answer_body)
    values
      (${scope.tenant_id}, ${scope.environment_id}, ${key}, ${fingerprint}, ${answer.status},
       ${tx.json((answer.body ?? null) as Parameters<typeof tx.json>[0])})`;
}

/** What has to be equal for two requests to be the same one: method, path with its query, and body. */
export function requestFingerprint(method: string, url: string, body: unknown): string {
  const text = JSON.stringify([method, url, sorted(body ?? null)]);
  return createHash('sha256').update(text).digest('base64');
}

/** The same value with the keys of every object in order; of a file its hash. */
function sorted(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return createHash('sha256').update(value).digest('base64');
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}

/**
 * A transaction that can be handed to code which expects the pool: what it begins becomes a savepoint
 * of this transaction. Such code must not begin two transactions at the same time.
 */
export function poolWithin(tx: Transaction): Pool {
  return new Proxy(tx, {
    get(target, property) {
      if (property !== 'begin') return Reflect.get(target, property) as unknown;
      return (...given: [string, SavepointWork] | [SavepointWork]) =>
        target.savepoint((given.length === 1 ? given[0] : given[1]) as SavepointWork);
    },
  }) as unknown as Pool;
}
type SavepointWork = (tx: Transaction) => Promise<unknown>;
