import { z } from 'zod';
import { withoutTrailing } from '../schemas/digits.ts';
import { isLoopback } from './loopback.ts';

const url = (protocols: RegExp, example: string) =>
  z.string().regex(protocols, `must be an address of that kind; for example ${example}`);

const onOrOff = z
  .enum(['on', 'off'])
  .default('on')
  .transform((value) => value === 'on');

/** A name that is left out keeps this default. */
const TENANT_LIMITS_MAX = { production: 20, development: 20, max_users: 1000 };

const tenantLimits = z
  .string()
  .default('')
  .transform((list, context) => {
    const limits = { ...TENANT_LIMITS_MAX };
    for (const entry of list.split(',').flatMap((part) => part.trim() || [])) {
      const [, name, count] = /^([a-z_]+)=(\d{1,9})$/.exec(entry) ?? [];
      if (name === undefined || !Object.hasOwn(limits, name)) {
        const message = `"${entry}" is not name=number, with a name of: ${Object.keys(limits).join(', ')}`;
        context.issues.push({ code: 'custom', message, input: list });
        return z.NEVER;
      }
      limits[name as keyof typeof limits] = Number(count);
    }
    return limits;
  });

const Config = z.object({
  /** The one port of ingest, API, docs and pages. */
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  HOST: z.string().min(1).default('127.0.0.1'),
  /**
   * The address at which browsers reach the product; unset: 127.0.0.1 and PORT. Used in portal links and
   * single sign-on.
   */
  PUBLIC_URL: url(/^https?:\/\/[^\s#?]+$/, 'https://billing.example.com').optional(),
  /**
   * Trusted proxies: X-Forwarded-For is accepted from these addresses or CIDR ranges only. Comma-separated.
   */
  TRUSTED_PROXIES: z
    .string()
    .default('')
    .transform((list) => list.split(',').flatMap((entry) => entry.trim() || [])),
  /** Whether tenants may log in through an identity provider. */
  SINGLE_SIGN_ON: onOrOff,
  /** Secret from the vendor of the support widget, which identifies callers with it. Unset: no widget. */
  SUPPORT_CHAT_SECRET: z.string().min(16).max(500).optional(),
  /** Whether the main port serves the OpenAPI document and its page. */
  SERVE_DOCS: onOrOff,
  /** Bearer token for /metrics of the main port. Unset: only the operations ports serve metrics. */
  METRICS_TOKEN: z.string().min(24).max(200).optional(),
  /** Data directory of the embedded engines. */
  DATA_DIR: z.string().min(1).default('.data'),
  /** Unset: an embedded Postgres server below DATA_DIR. */
  POSTGRES_URL: url(
    /^postgres(ql)?:\/\//,
    'postgres://user:password@host:5432/meterline',
  ).optional(),
  /**
   * Login with the role meterline_api, for requests of callers. Unset: the login of POSTGRES_URL sets the
   * role.
   */
  API_POSTGRES_URL: url(
    /^postgres(ql)?:\/\//,
    'postgres://meterline_api:password@host:5432/meterline',
  ).optional(),
  /** Unset: an embedded ClickHouse, as a child process, below DATA_DIR. */
  CLICKHOUSE_URL: url(/^https?:\/\//, 'http://user:password@host:8123/meterline').optional(),
  /** Unset: the event log is in Postgres. Comma-separated host:port. */
  KAFKA_BROKERS: z
    .string()
    .min(1)
    .transform((list) => list.split(',').map((broker) => broker.trim()))
    .optional(),
  KAFKA_TOPIC: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,200}$/)
    .default('meterline-events'),
  /**
   * Brokers that keep a copy of each event. 1 is for trials: if the disk of that broker fails, acknowledged
   * events are lost.
   */
  KAFKA_REPLICATION_FACTOR: z.coerce.number().int().min(1).max(9).default(3),
  /** Unset: caches and rate limits are in the process. */
  REDIS_URL: url(/^rediss?:\/\//, 'redis://host:6379').optional(),
  /** Partitions of a new event log; an existing log keeps its count. Unset: 4 embedded, 12 on Kafka. */
  LOG_PARTITIONS: z.coerce.number().int().min(1).max(1024).optional(),
  /** E-mail address of the first user, created at the first start. */
  BOOTSTRAP_EMAIL: z
    .string()
    .regex(/^[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,190}$/, 'must be an e-mail address')
    .default('admin@localhost'),
  /** API key created at the first start, for scripted installs. */
  BOOTSTRAP_API_KEY: z.string().min(24).max(200).optional(),
  /** Whether strangers may sign up a tenant of their own. Unset: `open` on loopback, else `invited`. */
  SIGN_UP: z.enum(['open', 'invited']).optional(),
  /** Minutes after a login in which a person need not confirm the password for keys, rights and refunds. */
  RECENT_LOGIN_MINUTES: z.coerce.number().int().min(1).max(1440).default(15),
  /** The largest values that a tenant may give its own limits: `production=5,max_users=50`. */
  TENANT_LIMITS_MAX: tenantLimits,
  /** The server that sends the product's e-mails. Unset: none are sent. */
  SMTP_URL: url(/^smtps?:\/\/[^\s]+$/, 'smtps://user:password@mail.example.com:465').optional(),
  /** Sender address of these e-mails. */
  SMTP_FROM: z
    .string()
    .regex(/^[^@\s<>]+@[^@\s<>]+$/, 'must be an e-mail address; for example billing@example.com')
    .default('meterline@localhost'),
  /**
   * Keys that encrypt secrets at rest: `name:base64 of 32 bytes`, comma-separated; the first encrypts, all
   * decrypt.
   */
  ENCRYPTION_KEY: z
    .string()
    .min(1)
    .transform((list, context) =>
      list.split(',').map((entry) => {
        const [, id, text] = /^\s*([A-Za-z0-9_-]{1,40}):([A-Za-z0-9+/=_-]+)\s*$/.exec(entry) ?? [];
        const key = Buffer.from(text ?? '', 'base64');
        if (id !== undefined && key.length === 32) return { id, key };
        const message =
          'must be a list of name:key, each key 32 bytes in base64 (openssl rand -base64 32)';
        context.issues.push({ code: 'custom', message, input: '' });
        return z.NEVER;
      }),
    )
    .refine((keys) => new Set(keys.map(({ id }) => id)).size === keys.length, {
      message: 'must not use one name for two keys',
    })
    .optional(),
  /**
   * Receivers of notifications that may have a private address, for environments other than production:
   * `host` or `host:port`, comma-separated.
   */
  OUTBOUND_ALLOWED_HOSTS: z
    .string()
    .default('')
    .transform((list) => list.split(',').flatMap((entry) => entry.trim() || [])),
  /**
   * Days for which a delivery of a notification is listed after its last attempt. Attempts are listed for 30
   * days.
   */
  WEBHOOK_DELIVERY_DAYS: z.coerce.number().int().min(7).max(3_650).default(90),
  /**
   * Whether the built-in test gateway, which moves no money, works in production environments too; invoices are
   * then paid by nothing.
   */
  TEST_GATEWAY_IN_PRODUCTION: z
    .enum(['on', 'off'])
    .default('off')
    .transform((value) => value === 'on'),
  /** Events a second that one tenant may send to one edge process; 0 = no limit. */
  INGEST_EVENTS_PER_SECOND: z.coerce.number().int().min(0).default(0),
  /** Events a second that the imports of one tenant append to the log; 0 = no limit. */
  IMPORT_EVENTS_PER_SECOND: z.coerce.number().int().min(0).default(5000),
  /** Connections that one process serves at a time; a request on a further connection gets 503. */
  MAX_CONNECTIONS: z.coerce.number().int().min(10).max(100_000).default(5_000),
  /** Requests a second that one API key may make to one API process; 0 = no limit. */
  API_REQUESTS_PER_SECOND: z.coerce.number().int().min(0).default(1000),
  /** Limits of one query on usage or events; a query that exceeds them is refused. */
  ANALYTICS_SECONDS: z.coerce.number().int().min(1).max(600).default(10),
  ANALYTICS_ROWS_MAX: z.coerce.number().int().min(1_000).default(1_000_000_000),
  ANALYTICS_MEMORY_MB: z.coerce.number().int().min(64).default(2_000),
  /** Queries of one tenant that one API process runs at a time; the next twenty wait. */
  ANALYTICS_PER_TENANT: z.coerce.number().int().min(1).max(100).default(2),
  /** Time after a period's end during which its usage may still arrive; then the invoice is finalized. */
  BILLING_GRACE_SECONDS: z.coerce
    .number()
    .int()
    .min(0)
    .max(30 * 86_400)
    .default(7200),
  STREAM_BATCH_EVENTS: z.coerce.number().int().min(1).max(65_536).default(20_000),
  STREAM_BATCH_WAIT_MS: z.coerce.number().int().min(1).max(10_000).default(500),
  /** Port of a role's health and metrics server; 0 picks a free one. */
  OPERATIONS_PORT: z.coerce.number().int().min(0).max(65_535).default(0),
  OPERATIONS_HOST: z.string().min(1).default('127.0.0.1'),
  /**
   * Operations ports of the other roles on this machine; /metrics includes their metrics. Comma-separated.
   */
  OPERATIONS_PEERS: z
    .string()
    .default('')
    .transform((list) => list.split(',').filter(Boolean).map(Number)),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  /** Names of failpoints at which the process kills itself, for fault tests only. Comma-separated. */
  FAILPOINTS: z.string().default(''),
});
/** Names of all settings, for the document that lists them. */
export const CONFIG_KEYS: readonly string[] = Object.keys(Config.shape);
export type Config = Readonly<z.infer<typeof Config>>;

/** Whether strangers may sign up; by default only on loopback. */
export function signUpOf({
  SIGN_UP,
  HOST,
  PUBLIC_URL,
}: Pick<Config, 'SIGN_UP' | 'HOST' | 'PUBLIC_URL'>): 'open' | 'invited' {
  const hosts = [HOST, ...(PUBLIC_URL === undefined ? [] : [new URL(PUBLIC_URL).hostname])];
  return SIGN_UP ?? (hosts.every(isLoopback) ? 'open' : 'invited');
}

/** The address at which browsers reach the product, without a trailing slash. */
export const publicUrlOf = ({ PUBLIC_URL, PORT }: Pick<Config, 'PUBLIC_URL' | 'PORT'>): string =>
  withoutTrailing(PUBLIC_URL ?? `http://127.0.0.1:${PORT}`, '/');

/** Reads the environment once. Only `main/` calls this; all other code gets values passed in. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const result = Config.safeParse(given);
  if (result.success) return Object.freeze(result.data);
  throw new Error(`Bad configuration:\n${z.prettifyError(result.error)}`);
}
