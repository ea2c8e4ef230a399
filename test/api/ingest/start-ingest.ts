import { createHash, randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { IngestDeps } from '../../../ingest/accept-events.ts';
import { ingestRoutes } from '../../../ingest/routes.ts';
import {
  openPostgresEventLog,
  type PostgresEventLog,
} from '../../../platform/event-log/postgres.ts';
import { createApiKeyAuth } from '../../../platform/identity/api-key-auth.ts';
import { RequestLog } from '../../../platform/http/request-log.ts';
import { createServer } from '../../../platform/http/server.ts';
import { createSessions, type Sessions } from '../../../platform/identity/sessions.ts';
import { createIds } from '../../../platform/ids.ts';
import type { Pool } from '../../../postgres/client.ts';
import { createEventFilters } from '../../../postgres/tables/event-filters.ts';
import { decodeEvents, type UsageEvent } from '../../../schemas/events/usage-event.ts';
import { createTestDatabase } from '../../support/database.ts';
import { startFaultProxy, type FaultProxy } from '../../../bench/kill/fault-proxy.ts';
import { WAIT_MS } from '../../support/patience.ts';

export const NOW_MS = Date.parse('2026-11-21T12:00:00.000Z');

export interface TestIngest {
  readonly app: FastifyInstance;
  readonly key: string;
  readonly log: PostgresEventLog;
  /** The network between the edge and its log. */
  readonly proxy: FaultProxy;
  readonly metrics: Registry;
  readonly clock: { now(): number; advance(ms: number): void };
  newKey(options?: NewKey): Promise<string>;
  readonly sessions: Sessions;
  readonly pool: Pool;
  readonly requestLog: RequestLog;
  /** A person of a new tenant with one environment, logged in. */
  newPerson(roles?: string[]): Promise<TestPerson>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Everything the log has, in no particular order. */
  stored(): Promise<UsageEvent[]>;
  close(): Promise<void>;
}

export interface NewKey {
  readonly id?: string;
  readonly roles?: string[];
  readonly type?: string;
  readonly allowed_event_names?: string[];
  readonly external_customer_id?: string;
}

export interface TestPerson {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly token: string;
  readonly refresh_token: string;
}

export interface Answer {
  readonly status: number;
  // Tests reach into answers freely.
  readonly body: any;
  readonly headers: Record<string, unknown>;
}

/** The ingest routes on a bare server, over a log of their own in Postgres. */
export async function startIngest(
  options: {
    maxHeldBytes?: number;
    limits?: (clock: { now(): number }) => IngestDeps['limits'];
    appendDeadlineMs?: number;
  } = {},
): Promise<TestIngest> {
  const database = await createTestDatabase(4);
  let nowMs = NOW_MS;
  const clock = { now: () => nowMs, advance: (ms: number) => void (nowMs += ms) };
  const logger = pino({ level: 'silent' });
  const url = new URL(database.url);
  const proxy = await startFaultProxy({ host: url.hostname, port: Number(url.port) });
  url.port = String(proxy.port);
  const log = await openPostgresEventLog({
    url: url.toString(),
    logger,
    appendDeadlineMs: options.appendDeadlineMs ?? WAIT_MS,
  });
  const auth = await createApiKeyAuth({ pool: database.pool, clock });
  const sessions = await createSessions({ pool: database.pool, clock });
  const metrics = new Registry();
  const ids = createIds(clock);
  const app = createServer({ log: logger });
  const requestLog = new RequestLog({ pool: database.pool, clock, ids, log: logger });
  await app.register(
    ingestRoutes({
      log,
      authenticate: auth.authenticate,
      sessions,
      limits: options.limits?.(clock) ?? null,
      clock,
      ids,
      metrics,
      logger,
      requestLog,
      filters: createEventFilters(database.pool, clock),
      ...(options.maxHeldBytes === undefined ? {} : { maxHeldBytes: options.maxHeldBytes }),
    }),
  );
  await app.ready();
  const { pool } = database;
  const newKey = (wanted: NewKey = {}) => createKey(pool, ids.next, wanted);
  const key = await newKey();

  return {
    app,
    key,
    log,
    proxy,
    metrics,
    clock,
    newKey,
    sessions,
    pool,
    requestLog,
    async newPerson(roles = ['super_admin']) {
      const user = await createUser(pool, ids.next, 'user', roles);
      const session = await sessions.open(
        pool,
        { id: user.user_id, tenant_id: user.tenant_id },
        'password',
        { ip: '127.0.0.1' },
      );
      return { ...user, token: session.token, refresh_token: session.refresh_token };
    },
    async post(path, body, headers = {}) {
      const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
      const response = await app.inject({
        method: 'POST',
        url: path,
        headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
        payload: isRaw ? body : JSON.stringify(body),
      });
      return {
        status: response.statusCode,
        body: response.body === '' ? null : JSON.parse(response.body),
        headers: response.headers,
      };
    },
    async stored() {
      const rows = await pool<{ value: Buffer }[]>`select value from log_records`;
      return rows.flatMap((row) => decodeEvents(row.value));
    },
    async close() {
      proxy.pass();
      await app.close();
      await requestLog.close();
      await log.close();
      await auth.close();
      await proxy.close();
      await database.drop();
    },
  };
}

type NextId = (prefix: 'tenant' | 'env' | 'user' | 'secret') => string;

async function createUser(
  pool: Pool,
  next: NextId,
  type: 'user' | 'service_account',
  roles: string[],
): Promise<{ tenant_id: string; environment_id: string; user_id: string }> {
  const [tenant_id, environment_id, user_id] = [next('tenant'), next('env'), next('user')];
  await pool`insert into tenants ${pool({ id: tenant_id, name: 'Test' })}`;
  await pool`insert into environments ${pool({ id: environment_id, tenant_id, name: 'Test', type: 'development' })}`;
  await pool`insert into users ${pool({ id: user_id, tenant_id, name: 'Test', type, roles })}`;
  return { tenant_id, environment_id, user_id };
}

async function createKey(pool: Pool, next: NextId, wanted: NewKey): Promise<string> {
  const { roles = ['super_admin'], ...fields } = wanted;
  const user = await createUser(pool, next, 'service_account', roles);
  const key = `sk_test_${randomBytes(32).toString('base64url')}`;
  await pool`insert into api_keys ${pool({
    ...user,
    id: next('secret'),
    name: 'test',
    key_hash: createHash('sha256').update(key).digest(),
    display_id: 'sk_test_…',
    roles,
    ...fields,
  })}`;
  return key;
}
