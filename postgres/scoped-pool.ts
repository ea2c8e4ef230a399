import assert from 'node:assert/strict';
import postgres from 'postgres';
import { connectPostgres, type Pool, type PostgresOptions, type Transaction } from './client.ts';
import { isServerRefusal } from './outage.ts';

/** The role that statements of the API's callers run as: subject to row-level security, owner of nothing. */
export const API_ROLE = 'meterline_api';

/**
 * A pool whose connections begin as the API's role and see nothing until a scope is set. For scoped pools
 * alone. Null where the server, or a pooler before it, does not take the role with the login.
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

/** How poolers refuse a setting that they do not pass on. */
const isUnknownAtLogin = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && error.code === '08P01';

const isApiPool = (pool: Pool): boolean => pool.options.connection['role'] === API_ROLE;

/** In place of an environment: all environments of the tenant. */
export const EVERY_ENVIRONMENT = '*';

/** What the database is told about the statements of one request or one job run. */
export interface Session {
  /** Null: the statements run as the login's own role, across tenants, and only the actor is told. */
  readonly scope: {
    readonly tenant_id: string;
    /** `EVERY_ENVIRONMENT` for what is about the tenant as a whole. */
    readonly environment_id: string;
  } | null;
  readonly actor: Actor;
}

/** Who stands in the audit log. Fields that do not apply are left out. */
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
 * The same pool, for one session: every statement runs in a transaction that has first taken the API's
 * role and set tenant, environment and actor, all of them local to that transaction, so that nothing is
 * left on the connection for whoever gets it next. On a pool of `connectAsApi` a statement of its own is
 * one round trip with all that, as on the plain pool; on any other it waits for the settings first.
 * `bench/second-wall.ts` measures what it costs in milliseconds.
 */
export function scopedPool(pool: Pool, session: Session): Pool {
  const settings = settingsOf(session);
  return new Proxy(pool, {
    apply(target, _this, given: [unknown, ...unknown[]]) {
      const made: unknown = Reflect.apply(target as never, undefined, given);
      // A call with a template makes a statement, or a piece of one; which, shows when it is awaited.
      if (isTemplate(given[0]))
        (made as Statement).handler = (statement) => void run(pool, settings, statement);
      return made;
    },
    get(target, property) {
      if (property === 'begin')
        return (...given: [string, Work] | [Work]) => {
          const [options, work] = given.length === 1 ? ['', given[0]] : given;
          return target.begin(options, async (tx) => {
            // Sent ahead of the work and not waited for: where it fails, the transaction is over.
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

/** What a pool offers beside statements and transactions; it would run outside the session. */
const OUTSIDE_SCOPE = new Set([
  'unsafe', 'file', 'reserve', 'listen', 'notify', 'subscribe', 'largeObject', 'close', 'end',
]); // prettier-ignore

/** What the driver's query has that its types leave out; its version is pinned, and a test holds this. */
interface Statement {
  handler: (statement: Statement) => void;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

type Settings = readonly [role: string | null, tenant: string, environment: string, actor: string];

function settingsOf({ scope, actor }: Session): Settings {
  if (scope === null) return [null, '', '', JSON.stringify(actor)];
  return [API_ROLE, scope.tenant_id, scope.environment_id, JSON.stringify(actor)];
}

/**
 * Sends the settings at once, local to the transaction. The role comes last: nothing after it runs as
 * anyone else.
 */
function enter(db: Transaction | postgres.ReservedSql, settings: Settings): Promise<unknown> {
  const [role, tenant, environment, actor] = settings;
  const entering =
    role === null
      ? db`select set_config('meterline.actor', ${actor}, true)`
      : db`select set_config('meterline.tenant', ${tenant}, true),
                  set_config('meterline.environment', ${environment}, true),
                  set_config('meterline.actor', ${actor}, true),
                  set_config('role', ${role}, true)`;
  return entering.execute();
}

const isTemplate = (value: unknown): boolean =>
  Array.isArray(value) && Array.isArray((value as { raw?: unknown }).raw as unknown);

/**
 * Runs one statement in a transaction of its own: begin, settings, the statement and commit. Where a
 * connection without settings sees nothing they are sent as one; where it sees everything the statement
 * is sent after the settings are known to stand. It settles with its caller once the commit is answered.
 * Not with the driver's own `begin`: that one sends a rollback over a connection that was lost under it,
 * and ends the process.
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
  // The driver sends the two a microtask later, which is before this goes on.
  if (isApiPool(pool)) await Promise.resolve();
  else begun = await Promise.allSettled(steps);
  const isRefused = begun.some(({ status }) => status === 'rejected');
  const work = isRefused ? Promise.resolve() : send(connection, statement);
  steps.push(work, connection`commit`.execute());
  const settled = await Promise.allSettled(steps);
  const ended = settled.at(-1)!;
  // A connection that was lost is no longer the driver's to hand out: it must not be given back.
  if (ended.status === 'fulfilled' || ended.reason instanceof postgres.PostgresError)
    connection.release();
  const failure = settled.find((step) => step.status === 'rejected');
  if (failure === undefined) resolve(await work);
  else reject(failure.reason);
}

/** Over the reserved connection, behind what was sent before. */
function send(connection: postgres.ReservedSql, statement: Statement): Promise<unknown> {
  return new Promise((done, failed) => {
    statement.resolve = done;
    statement.reject = failed;
    handlerOf(connection)(statement);
  });
}

/** What sends a statement over the reserved connection. */
const handlerOf = (connection: postgres.ReservedSql): Statement['handler'] =>
  (connection`` as unknown as Statement).handler;
