import { createHash } from 'node:crypto';
import { BillingError } from '../../domain/errors.ts';
import { inScope, type Db, type Pool, type Scope, type Transaction } from '../client.ts';

/** The answer to the first request with a key. */
export interface StoredAnswer {
  readonly status: number;
  readonly body: unknown;
}

export type KeyState =
  | { readonly state: 'new' }
  /** Another request is working on the same key. */
  | { readonly state: 'busy' }
  /** The key was used for a different request. */
  | { readonly state: 'reused' }
  | { readonly state: 'answered'; readonly answer: StoredAnswer };

/**
 * Claims an idempotency key for the duration of the transaction, for work that is one short transaction
 * together with its answer. The claim is an advisory lock, so it ends with the transaction in any case: a
 * crash leaves nothing behind, and a concurrent request learns at once that the key is busy. Longer work
 * claims with `claimCommand`.
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
  const [row] = await tx<ClaimRow[]>`
    select fingerprint, answer_status, answer_body
      from idempotency_keys
     where ${inScope(tx, scope)} and key = ${key}`;
  return row === undefined ? { state: 'new' } : stateOf(row, fingerprint);
}

interface ClaimRow {
  readonly fingerprint: string;
  readonly answer_status: number | null;
  readonly answer_body: unknown;
}

function stateOf(row: ClaimRow, fingerprint: string): Exclude<KeyState, { state: 'new' }> {
  if (row.fingerprint !== fingerprint) return { state: 'reused' };
  if (row.answer_status === null) return { state: 'busy' };
  return { state: 'answered', answer: { status: row.answer_status, body: row.answer_body } };
}

/** How long a claim lasts after its last renewal (money 2.10.2). */
const ALIVE_SECONDS = 60;

/** The right to run a command. Each of its writing transactions holds it. */
export interface CommandClaim {
  /** The same for every attempt; rows of the command may carry it. */
  readonly id: string;
  /** The result of an earlier, lost attempt; undefined if it had no effect. */
  readonly result: unknown;
  /**
   * Stores the command's result in the transaction of its work. Refuses with 409 if the claim was taken over
   * in the meantime, so that two attempts never both have an effect.
   */
  note(tx: Transaction, result: unknown): Promise<void>;
  /** Renews the claim. */
  stayAlive(): Promise<void>;
  /** Stores the answer for repeats. */
  finish(answer: StoredAnswer): Promise<void>;
  /** Releases the key: immediately if nothing was done, otherwise to the next attempt, which answers. */
  release(): Promise<void>;
}

/**
 * Claims a key in its own transaction, for a command that then owns its transactions. A claim whose holder
 * did not renew it for 60 s is taken over, with its result.
 */
export async function claimCommand(
  pool: Pool,
  scope: Scope,
  key: string,
  fingerprint: string,
  ids: { readonly claim_id: string; readonly holder: string },
): Promise<Exclude<KeyState, { state: 'new' }> | { state: 'claimed'; claim: CommandClaim }> {
  return await pool.begin(async (tx) => {
    const { claim_id, holder } = ids;
    const [made] = await tx`
      insert into idempotency_keys
        (tenant_id, environment_id, key, fingerprint, claim_id, holder, alive_at)
      values
        (${scope.tenant_id}, ${scope.environment_id}, ${key}, ${fingerprint}, ${claim_id},
         ${holder}, clock_timestamp())
      on conflict do nothing
      returning 1`;
    if (made !== undefined)
      return {
        state: 'claimed',
        claim: commandClaim(pool, scope, key, { ...ids, result: undefined }),
      };
    const [row] = await tx<(ClaimRow & { claim_id: string; is_alive: boolean; result: unknown })[]>`
      select fingerprint, answer_status, answer_body, claim_id, result,
             alive_at > clock_timestamp() - make_interval(secs => ${ALIVE_SECONDS}) as is_alive
        from idempotency_keys
       where ${inScope(tx, scope)} and key = ${key}
         for update`;
    // Released between the two statements: the next request has it.
    if (row === undefined) return { state: 'busy' };
    const known = stateOf(row, fingerprint);
    if (known.state !== 'busy' || row.is_alive) return known;
    await tx`
      update idempotency_keys set holder = ${holder}, alive_at = clock_timestamp()
       where ${inScope(tx, scope)} and key = ${key}`;
    const again = { claim_id: row.claim_id, holder, result: row.result ?? undefined };
    return { state: 'claimed', claim: commandClaim(pool, scope, key, again) };
  });
}

function commandClaim(
  pool: Pool,
  scope: Scope,
  key: string,
  held: { readonly claim_id: string; readonly holder: string; readonly result: unknown },
): CommandClaim {
  const mine = (db: Db) =>
    db`${inScope(db, scope)} and key = ${key} and holder = ${held.holder} and answer_status is null`;
  return {
    id: held.claim_id,
    result: held.result,
    async note(tx, result) {
      const noted = await tx`
        update idempotency_keys
           set result = ${tx.json(result as Json)}, alive_at = clock_timestamp()
         where ${mine(tx)}`;
      if (noted.count === 0) throw claimLost();
    },
    async stayAlive() {
      await pool`update idempotency_keys set alive_at = clock_timestamp() where ${mine(pool)}`;
    },
    async finish({ status, body }) {
      await pool`
        update idempotency_keys
           set answer_status = ${status}, answer_body = ${pool.json((body ?? null) as Json)},
               result = null
         where ${mine(pool)}`;
    },
    async release() {
      await pool`
        with given_back as (
          delete from idempotency_keys where ${mine(pool)} and result is null)
        update idempotency_keys set alive_at = '-infinity' where ${mine(pool)} and result is not null`;
    },
  };
}

type Json = Parameters<Transaction['json']>[0];

const claimLost = (): BillingError =>
  new BillingError(
    'conflict',
    'idempotency_key_in_use',
    'The Idempotency-Key was taken up by another request meanwhile. Repeat the request.',
  );

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

/** The parts that must be equal for two requests to be the same: method, path with its query, and body. */
export function requestFingerprint(method: string, url: string, body: unknown): string {
  const text = JSON.stringify([method, url, sorted(body ?? null)]);
  return createHash('sha256').update(text).digest('base64');
}

/** The same value with the keys of every object sorted; a file is replaced by its hash. */
function sorted(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return createHash('sha256').update(value).digest('base64');
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}

/**
 * A transaction in the form of a pool, for code that expects one: a transaction that it begins becomes a
 * savepoint of this transaction. The code must not begin two transactions at the same time.
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
