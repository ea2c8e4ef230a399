import assert from 'node:assert/strict';
import postgres from 'postgres';
import { connectPostgres, type Pool, type PostgresOptions, type Transaction } from './client.ts';
import { isServerRefusal } from './outage.ts';

/** The role of statements of the API's callers: subject to row-level security, owns nothing. */
export const API_ROLE = 'meterline_api';

/**
 * A pool whose connections start as the API's role and see no rows until a scope is set. For scoped pools
 * only. Null if the server, or a pooler in front of it, does not accept the role at login.
 */
export async function connectAsApi(options: PostgresOptions): Promise<Pool | null> {
  const pool = connectPostgres({ ...options, settings: { ...options.settings, role: API_ROLE } });
  try {
    const [found] = await pool<{ role: string }[]>`select current_user::text as role`;
    if (found!.role === API_ROLE) return pool;
  } catch (error) {
    if (!isServerRefusal(error) && !isUnknownAtLogin(error)) throw error;
  }
  await pool.end({ timeout: 1 });
  return null;
}

/** The error with which poolers refuse a setting that they do not forward. */
const isUnknownAtLogin = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && error.code === '08P01';

const isApiPool = (pool: Pool): boolean => pool.options.connection['role'] === API_ROLE;

/** Replaces an environment id: all environments of the tenant. */
export const EVERY_ENVIRONMENT = '*';

/** Database settings for the statements of one request or one job run. */
export interface Session {
  /**
   * Null means that the statements run as the login's own role, across tenants, and only the actor is set.
   */
  readonly scope: {
    readonly tenant_id: string;
    /** `EVERY_ENVIRONMENT` for records of the tenant as a whole. */
    readonly environment_id: string;
  } | null;
  readonly actor: Actor;
  /** The time of the test clock; unset in real time. The audit log and notifications note it. */
  readonly time?: string;
}

/** The actor in the audit log. Fields that do not apply are omitted. */
export interface Actor {
  readonly kind: 'user' | 'service_account' | 'customer' | 'public' | 'system';
  readonly user_id?: string;
  readonly key_id?: string;
  readonly job?: string;
  readonly request_id?: string;
  readonly ip?: string;
  readonly user_agent?: string;
}

/**
 * The same pool for one session. Every statement runs in a transaction that first takes the API's role and
 * sets tenant, environment and actor. All of them are local to that transaction, so nothing remains on the
 * connection for its next user. On a pool of `connectAsApi` a single statement takes one round trip including
 * the settings, as on the plain pool; on any other pool it waits for the settings first.
 * `bench/second-wall.ts` measures the cost in milliseconds.
 */
export function scopedPool(pool: Pool, session: Session): Pool {
  const scoped = proxyOf(pool, session);
  origins.set(scoped, { pool, session });
  return scoped;
}

/** What a scoped pool was made from. */
export interface PoolOrigin {
  readonly pool: Pool;
  readonly session: Session;
}

const origins = new WeakMap<Pool, PoolOrigin>();

/** Null for every pool that `scopedPool` did not return, such as a transaction in the form of a pool. */
export const originOf = (pool: Pool): PoolOrigin | null => origins.get(pool) ?? null;

/**
 * Names the actor of each row, by its id, that the transaction inserts from now on; other rows have the actor
 * of the session (migration 0270).
 */
export async function noteActorsOfRows(
  tx: Transaction,
  actors: Readonly<Record<string, Actor>>,
): Promise<void> {
  if (Object.keys(actors).length === 0) return;
  await tx`select set_config('meterline.actors', ${JSON.stringify(actors)}, true)`;
}

function proxyOf(pool: Pool, session: Session): Pool {
  const settings = settingsOf(session);
  return new Proxy(pool, {
    apply(target, _this, given: [unknown, ...unknown[]]) {
      const made: unknown = Reflect.apply(target as never, undefined, given);
      // A call with a template creates a statement or a part of one; awaiting it decides.
      if (isTemplate(given[0]))
        (made as Statement).handler = (statement) => void run(pool, settings, statement);
      return made;
    },
    get(target, property) {
      if (property === 'begin')
        return (...given: [string, Work] | [Work]) => {
          const [options, work] = given.length === 1 ? ['', given[0]] : given;
          return target.begin(options, async (tx) => {
            // Sent before the work and not awaited: if it fails, the transaction is aborted.
            enter(tx, settings).catch(() => {});
            return await work(tx);
          });
        };
      assert(
        session.scope === null || typeof property === 'symbol' || !OUTSIDE_SCOPE.has(property),
        `${String(property)} would leave the scope`,
      );
      return Reflect.get(target, property) as unknown;
    },
  });
}
type Work = (tx: Transaction) => Promise<unknown>;

/** Other functions of a pool, which would run outside the session. */
const OUTSIDE_SCOPE = new Set([
  'unsafe', 'file', 'reserve', 'listen', 'notify', 'subscribe', 'largeObject', 'close', 'end',
]); // prettier-ignore

/** Members of the driver's query that its types omit. Its version is pinned, and a test checks this. */
interface Statement {
  handler: (statement: Statement) => void;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

type Settings = readonly [
  role: string | null,
  tenant: string,
  environment: string,
  actor: string,
  time: string,
];

function settingsOf({ scope, actor, time = '' }: Session): Settings {
  if (scope === null) return [null, '', '', JSON.stringify(actor), time];
  return [API_ROLE, scope.tenant_id, scope.environment_id, JSON.stringify(actor), time];
}

/**
 * Sends the settings in one statement, local to the transaction. The role comes last: nothing after it runs
 * as another role.
 */
function enter(db: Transaction | postgres.ReservedSql, settings: Settings): Promise<unknown> {
  const [role, tenant, environment, actor, time] = settings;
  const clocked = time === '' ? db`` : db`set_config('meterline.time', ${time}, true),`;
  const entering =
    role === null
      ? db`select ${clocked} set_config('meterline.actor', ${actor}, true)`
      : db`select ${clocked} set_config('meterline.tenant', ${tenant}, true),
                  set_config('meterline.environment', ${environment}, true),
                  set_config('meterline.actor', ${actor}, true),
                  set_config('role', ${role}, true)`;
  return entering.execute();
}

const isTemplate = (value: unknown): boolean =>
  Array.isArray(value) && Array.isArray((value as { raw?: unknown }).raw as unknown);

/**
 * Runs one statement in its own transaction: begin, settings, the statement and commit. If a connection
 * without settings sees no rows, all are sent together. If it sees every row, the statement is sent only
 * after the settings are confirmed. It settles once the commit is answered. The driver's own `begin` is not
 * used: it sends a rollback over a connection lost during the transaction, and ends the process.
 */
async function run(pool: Pool, settings: Settings, statement: Statement): Promise<void> {
  const { resolve, reject } = statement;
  let connection: postgres.ReservedSql;
  try {
    connection = await pool.reserve();
  } catch (error) {
    return reject(error);
  }
  const steps: Promise<unknown>[] = [connection`begin`.execute(), enter(connection, settings)];
  let begun: PromiseSettledResult<unknown>[] = [];
  // The driver sends both one microtask later, before this continues.
  if (isApiPool(pool)) await Promise.resolve();
  else begun = await Promise.allSettled(steps);
  const refusal = begun.find((step) => step.status === 'rejected');
  // Nothing more is sent over a lost connection.
  if (refusal !== undefined && !(refusal.reason instanceof postgres.PostgresError))
    return reject(refusal.reason);
  const isRefused = refusal !== undefined;
  const work = isRefused ? Promise.resolve() : send(connection, statement);
  steps.push(work, connection`commit`.execute());
  const settled = await Promise.allSettled(steps);
  const ended = settled.at(-1)!;
  // A lost connection does not belong to the driver any more: it must not be released.
  if (ended.status === 'fulfilled' || ended.reason instanceof postgres.PostgresError)
    connection.release();
  const failure = settled.find((step) => step.status === 'rejected');
  if (failure === undefined) resolve(await work);
  else reject(failure.reason);
}

/** Sends over the reserved connection, after everything sent before. */
function send(connection: postgres.ReservedSql, statement: Statement): Promise<unknown> {
  return new Promise((done, failed) => {
    statement.resolve = done;
    statement.reject = failed;
    handlerOf(connection)(statement);
  });
}

/** The function that sends a statement over the reserved connection. */
const handlerOf = (connection: postgres.ReservedSql): Statement['handler'] =>
  (connection`` as unknown as Statement).handler;
