import assert from 'node:assert/strict';
import postgres from 'postgres';
import {
  connectPostgres,
  lanesOf,
  type Db,
  type Pool,
  type PostgresOptions,
  type Transaction,
} from './client.ts';
import { OTHER_FUNCTIONS, type Statement } from './driver-statement.ts';
import { sendInSteps, type Lanes } from './lanes.ts';
import { isServerRefusal } from './outage.ts';

/** The role of statements of the API's callers: subject to row-level security, owns nothing. */
export const API_ROLE = 'meterline_api';

/**
 * A pool whose connections start as the API's role and see no rows until a scope is set. For scoped pools
 * only. Null if the server, or a pooler in front of it, does not accept the role at login.
 */
export async function connectAsApi(options: PostgresOptions): Promise<Pool | null> {
  let pool: Pool | null = null;
  try {
    pool = connectPostgres({ ...options, settings: { ...options.settings, role: API_ROLE } });
    const [found] = await pool<{ role: string }[]>`select current_user::text as role`;
    if (found!.role === API_ROLE) {
      withoutRights.set(pool, lanesOf(pool)!);
      return pool;
    }
  } catch (error) {
    if (!isServerRefusal(error) && !isUnknownAtLogin(error)) throw error;
  }
  await pool?.end({ timeout: 1 });
  return null;
}

/** Pools whose statements see nothing until a scope is set. */
const withoutRights = new WeakMap<Pool, Lanes>();

/** The error with which poolers refuse a setting that they do not forward. */
const isUnknownAtLogin = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && error.code === '08P01';

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
 * the settings, as on the plain pool; on any other pool it waits for begin and settings first.
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
        session.scope === null || !OTHER_FUNCTIONS.has(property),
        `${String(property)} would leave the scope`,
      );
      return Reflect.get(target, property) as unknown;
    },
  });
}
type Work = (tx: Transaction) => Promise<unknown>;

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
function enter(db: Db, settings: Settings): Promise<unknown> {
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
 * Runs one statement in its own transaction, and settles once the commit is answered. If a connection without
 * settings sees no rows, all is sent together. If it sees every row, the statement is sent only after the settings
 * are confirmed.
 */
async function run(pool: Pool, settings: Settings, statement: Statement): Promise<void> {
  const { resolve, reject } = statement;
  const lanes = withoutRights.get(pool);
  const entering = (db: Db): Promise<unknown> => enter(db, settings);
  const answer =
    lanes === undefined
      ? sendInSteps(pool, entering, statement)
      : lanes.use((lane) => lanes.sendInTransaction(lane, entering, statement));
  await answer.then(resolve, reject);
}
