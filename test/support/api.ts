import { checkoutGates } from '../../api/billing/checkout/checkout-gates.ts';
import { createHash, randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { registerApi } from '../../api/app.ts';
import type { ApiDeps, BillingDeps, FillEnvironment } from '../../api/deps.ts';
import type { EventReader } from '../../clickhouse/reading/event-reader.ts';
import type { UsageAnswer, UsageQuery, UsageReader } from '../../domain/metering/usage.ts';
import type { Clock } from '../../platform/clock.ts';
import type { EventLog } from '../../platform/event-log/event-log.ts';
import { InProcessCache } from '../../platform/cache/in-process.ts';
import { createApiKeyAuth } from '../../platform/identity/api-key-auth.ts';
import { unknownFields } from '../../platform/http/parse.ts';
import type { Route } from '../../platform/http/route.ts';
import { createServer } from '../../platform/http/server.ts';
import { createSessions } from '../../platform/identity/sessions.ts';
import { createIds } from '../../platform/ids.ts';
import { createLogger, type Logger } from '../../platform/log.ts';
import { createSecretBox } from '../../platform/secret-box.ts';
import type { Pool, Scope } from '../../postgres/client.ts';
import { connectAsApi } from '../../postgres/scoped-pool.ts';
import { createPdfRenderer } from '../../platform/pdf/pdf-renderer.ts';
import { createTestDatabase } from './database.ts';
import { SOURCE_EXEC_ARGV } from './global-setup.ts';

/** A clock that moves only when the test sets it. */
export interface TestClock extends Clock {
  advance(ms: number): void;
  set(time: string): void;
}

export const TEST_NOW = '2026-11-21T12:00:00.000Z';

export function createTestClock(start = TEST_NOW): TestClock {
  let nowMs = Date.parse(start);
  return {
    now: () => nowMs,
    advance: (ms) => void (nowMs += ms),
    set: (time) => void (nowMs = Date.parse(time)),
  };
}

export interface TestAnswer {
  readonly status: number;
  // Tests read answers without types; every answer has been compared with its schema before.
  readonly body: any;
  readonly headers: Record<string, string | number | string[] | undefined>;
}

export interface TestCaller {
  readonly key: string;
  readonly scope: Scope;
  readonly user_id: string;
  call(method: string, path: string, body?: unknown, headers?: object): Promise<TestAnswer>;
  get(path: string, headers?: object): Promise<TestAnswer>;
  post(path: string, body?: unknown, headers?: object): Promise<TestAnswer>;
  /** The body of the answer. A refusal fails the test. */
  postOk(path: string, body?: unknown, headers?: object): Promise<any>;
  put(path: string, body?: unknown, headers?: object): Promise<TestAnswer>;
  delete(path: string, body?: unknown, headers?: object): Promise<TestAnswer>;
}

/** The whole API over a database of its own. As a caller it is the super admin of the first tenant. */
export interface TestApi extends TestCaller {
  readonly app: FastifyInstance;
  readonly deps: BillingDeps;
  readonly pool: Pool;
  readonly clock: TestClock;
  /** A key in a new environment of a new tenant; or with other roles, or beside an existing caller. */
  newCaller(options?: NewCaller): Promise<TestCaller>;
  /** The headers of a person's session, in the environment that is named. */
  sessionOf(
    person: { readonly user_id: string; readonly scope: Pick<Scope, 'tenant_id'> },
    environmentId?: string,
  ): Promise<Record<string, string>>;
  close(): Promise<void>;
}

export interface NewCaller {
  readonly roles?: readonly string[];
  /** Share this caller's tenant and environment. */
  readonly beside?: TestCaller;
  /** Share this caller's tenant, in an environment of its own. */
  readonly inTenantOf?: TestCaller;
  readonly userType?: 'user' | 'service_account';
}

/**
 * `const api = await startTestApi(); await api.post('/v1/meters', body)`. Every answer below 400 is compared
 * against the declared schema of its route, with all keys present and none besides; a difference fails
 * the call. A 5xx fails it too, unless `allowServerErrors` is set.
 */
export async function startTestApi(
  options: {
    readonly usageReader?: UsageReader;
    readonly eventReader?: EventReader;
    /** Without ClickHouse, no parts. */
    readonly mostParts?: ApiDeps['mostParts'];
    readonly openEventLog?: () => Promise<EventLog>;
    /** Without a log, an empty one. */
    readonly readLogHeads?: ApiDeps['readLogHeads'];
    readonly clock?: TestClock;
    readonly allowServerErrors?: boolean;
    readonly stripeApiUrl?: string;
    readonly fillEnvironment?: FillEnvironment;
    readonly log?: Logger;
    /** Told what requests send to Postgres, in its order. */
    readonly onStatement?: (text: string, parameters: readonly unknown[]) => void;
    /** Switches of the product that are on unless said otherwise. */
    readonly switches?: {
      readonly serveDocs?: boolean;
      readonly singleSignOn?: boolean;
      readonly supportChatSecret?: string;
      readonly sendsEmail?: boolean;
      readonly signUp?: 'open' | 'invited';
      readonly pagesDirectory?: string;
    };
  } = {},
): Promise<TestApi> {
  const database = await createTestDatabase();
  const { pool } = database;
  const clock = options.clock ?? createTestClock();
  const ids = createIds({ now: () => Date.now() });
  const log = options.log ?? createLogger('silent', 'test');
  const auth = await createApiKeyAuth({ pool, clock });
  const deps: BillingDeps = {
    pool,
    clock,
    ids,
    log,
    usageReader: options.usageReader ?? noUsage,
    checkoutGates,
    secretBox: createSecretBox([{ id: 'test', key: Buffer.alloc(32, 7) }]),
    forgetApiKey: auth.forget,
    settings: {
      grace_seconds: 3600,
      tenant_limits_max: { production: 20, development: 20, max_users: 1000 },
      outbound_allowed_hosts: ['127.0.0.1'],
      ...(options.stripeApiUrl === undefined ? {} : { stripe_api_url: options.stripeApiUrl }),
    },
  };

  const drift: string[] = [];
  const failures: unknown[] = [];
  const app = createServer({ log });
  app.addHook('onError', async (_request, reply, error) => {
    if (reply.statusCode >= 500) failures.push(error);
  });
  const { onStatement } = options;
  const apiPool = await connectAsApi({
    url: database.apiUrl,
    applicationName: 'test',
    ...(onStatement === undefined ? {} : { onStatement }),
  });
  await registerApi(app, {
    deps,
    apiPool,
    eventReader: options.eventReader ?? noEvents,
    cache: new InProcessCache(clock),
    mostParts: options.mostParts ?? (async () => null),
    openEventLog: options.openEventLog ?? noLog,
    pdf: createPdfRenderer({ execArgv: SOURCE_EXEC_ARGV }),
    ...(options.openEventLog === undefined
      ? { readLogHeads: options.readLogHeads ?? (async () => ({})) }
      : {}),
    ...options.switches,
    fillEnvironment: options.fillEnvironment ?? (async () => {}),
    authenticate: auth.authenticate,
    onBody: (route, body) => drift.push(...answerDrift(route, body)),
  });
  await app.ready();

  const caller = (key: string, scope: Scope, user_id: string): TestCaller => {
    const call = async (method: string, path: string, body?: unknown, headers: object = {}) => {
      const response = await app.inject({
        method: method as 'GET',
        url: path,
        headers: { 'x-api-key': key, ...headers },
        ...(body === undefined ? {} : { payload: body as object }),
      });
      const type = String(response.headers['content-type'] ?? '');
      const isJson = /^application\/(\S+\+)?json\b/.test(type);
      const answer = isJson ? response.json() : response.body === '' ? null : response.body;
      const found = drift.splice(0);
      const [failure] = failures.splice(0);
      if (found.length > 0)
        throw new Error(`${method} ${path} answers not as declared:\n${found.join('\n')}`);
      if (
        response.statusCode >= 500 &&
        response.statusCode !== 503 &&
        options.allowServerErrors !== true
      )
        throw new Error(`${method} ${path} answered ${response.statusCode}: ${response.body}`, {
          cause: failure,
        });
      return { status: response.statusCode, body: answer, headers: response.headers };
    };
    const post: TestCaller['post'] = (path, body, headers) =>
      call('POST', path, body ?? {}, headers);
    return {
      key,
      scope,
      user_id,
      call,
      get: (path, headers) => call('GET', path, undefined, headers),
      post,
      async postOk(path, body, headers) {
        const answer = await post(path, body, headers);
        if (answer.status >= 300)
          throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
        return answer.body;
      },
      put: (path, body, headers) => call('PUT', path, body ?? {}, headers),
      delete: (path, body, headers) => call('DELETE', path, body, headers),
    };
  };

  const newCaller = async (wanted: NewCaller = {}): Promise<TestCaller> => {
    const at = new Date(clock.now()).toISOString();
    const times = { created_at: at, updated_at: at };
    const tenant_id = (wanted.beside ?? wanted.inTenantOf)?.scope.tenant_id ?? ids.next('tenant');
    const environment_id = wanted.beside?.scope.environment_id ?? ids.next('env');
    const user_id = ids.next('user');
    const key = `sk_test_${randomBytes(32).toString('base64url')}`;
    const roles = [...(wanted.roles ?? ['super_admin'])];
    const type = wanted.userType ?? 'user';
    if (wanted.beside === undefined && wanted.inTenantOf === undefined)
      await pool`insert into tenants ${pool({ id: tenant_id, name: 'Test', ...times })}`;
    if (wanted.beside === undefined)
      await pool`insert into environments ${pool({ id: environment_id, tenant_id, name: 'Test', type: 'development', ...times })}`;
    await pool`insert into users ${pool({ id: user_id, tenant_id, email: type === 'user' ? `${user_id}@example.test` : null, name: 'Test', type, roles, ...times })}`;
    await pool`insert into api_keys ${pool({
      id: ids.next('secret'), tenant_id, environment_id, user_id, name: 'test', roles, ...times,
      key_hash: createHash('sha256').update(key).digest(), display_id: 'sk_test_…',
    })}`; // prettier-ignore
    return caller(key, { tenant_id, environment_id }, user_id);
  };

  return {
    ...(await newCaller()),
    app,
    deps,
    pool,
    clock,
    newCaller,
    async sessionOf({ user_id: id, scope: { tenant_id } }, environmentId) {
      const sessions = await createSessions({ pool, clock });
      const { token } = await sessions.open(pool, { id, tenant_id }, 'password', {
        ip: '127.0.0.1',
      });
      return {
        'x-api-key': '',
        authorization: `Bearer ${token}`,
        ...(environmentId === undefined ? {} : { 'x-environment-id': environmentId }),
      };
    },
    async close() {
      await app.close();
      await apiPool?.end({ timeout: 1 });
      await auth.close();
      await database.drop();
    },
  };
}

/** What is wrong with an answer: keys missing, of another kind, or not declared. */
function answerDrift(route: Route<ApiDeps>, body: unknown): string[] {
  if (route.contentType !== undefined) return [];
  const name = `${route.method} ${route.path}`;
  if (route.answer === null) return body == null ? [] : [`${name} has a body, but declares none`];
  const sent: unknown = JSON.parse(JSON.stringify(body ?? null));
  if (route.acceptedAnswer?.safeParse(sent).success === true) return [];
  const result = route.answer.safeParse(sent);
  const wrong = result.success
    ? []
    : result.error.issues.map((issue) => `${name} ${issue.path.join('.')}: ${issue.message}`);
  return [
    ...wrong,
    ...unknownFields(route.answer, sent).map((path) => `${name} ${path}: is not declared`),
  ];
}

function rowsOfNothing({ window, group_by }: UsageQuery): UsageAnswer['rows'] {
  const isPlain = window === null && group_by.length === 0;
  return isPlain ? [{ group: [], window_start: null, quantity: '0', event_count: 0 }] : [];
}

/** A store without events: zero for a plain question, no rows for a grouped or windowed one. */
export const noUsage: UsageReader = {
  async read(queries) {
    const answers = queries.map((query): [string, UsageAnswer] => [
      query.key,
      { key: query.key, rows: rowsOfNothing(query) },
    ]);
    return { watermarks: {}, answers: new Map(answers) };
  },
};

/** A log that cannot be reached: callers keep waiting. */
const noLog = (): Promise<EventLog> => Promise.reject(new Error('no event log in this test'));

/** A store without events, behind the port of raw events. */
export const noEvents: EventReader = {
  history: async () => ({ copies: [], canonical: null, usage: [], rejections: [], voids: [] }),
  search: async () => ({ events: [], total_count: 0 }),
  list: async () => [],
  aggregate: async ({ window }) => ({ value: window === null ? '0' : null, rows: [] }),
  counted: async () => [],
  answer: async (query) => ({ key: query.key, rows: rowsOfNothing(query) }),
  countedCopies: async () => [],
  counts: async () => ({ accepted: 0, duplicates: 0, metered: 0, rejected: 0, slots: [] }),
  meteredVersions: async () => [],
  meteredCustomers: async () => [],
  inTurn: (_tenantId, work) => work(),
  until: () => noEvents,
};
