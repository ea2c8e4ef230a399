import { join, resolve } from 'node:path';
import { startEmbeddedClickHouse } from '../clickhouse/embedded/server.ts';
import { systemClock } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import { armFailpoints, failpoint } from '../platform/failpoint.ts';
import { freePort } from '../platform/free-port.ts';
import { createIds } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
import { connectPostgres } from '../postgres/client.ts';
import { startEmbeddedPostgres } from '../postgres/embedded.ts';
import { requestReplay } from '../postgres/tables/stream-replays.ts';
import { bootstrapTenant } from './bootstrap.ts';
import { encryptionKeyIn } from './encryption-key.ts';
import { alreadyRunning, InstanceFile, readRunning, SHARED_SETTINGS } from './instance-file.ts';
import { migrateStores } from './migrate-stores.ts';
import { checkMachine } from './preflight.ts';
import { bootId } from './process-mark.ts';
import { roleProcess } from './role-process.ts';
import { RunningMark } from './running-mark.ts';
import { Supervisor } from './supervisor.ts';

/** Everything on one machine: every role, and the engines for which no address is given. */
export interface Instance {
  readonly baseUrl: string;
  /** Null if this machine does not know the key of an earlier start. */
  readonly apiKey: string | null;
  /** The first person and the token that sets their password; null after the first start. */
  readonly firstPerson: { readonly email: string; readonly token: string } | null;
  readonly postgresUrl: string;
  /** The same database for its owner, who migrates it. */
  readonly ownerUrl: string;
  /** The same database for the login that is the API's role; undefined where none was given. */
  readonly apiPostgresUrl: string | undefined;
  readonly clickhouseUrl: string;
  readonly operationsPorts: Readonly<Record<Role, number>>;
  /** Process ids by name: `postgres`, `clickhouse` (embedded ones) and the roles. */
  pids(): Record<string, number>;
  /** Drains the roles, then ends the engines. */
  stop(): Promise<void>;
}

export const ROLES = ['serve', 'stream', 'jobs'] as const;
export type Role = (typeof ROLES)[number];

export interface InstanceOptions {
  readonly config: Config;
  readonly log: Logger;
  /** Roles to start; a benchmark may omit the stream. */
  readonly roles?: readonly Role[];
  /** Added to the environment of the role processes. */
  readonly env?: NodeJS.ProcessEnv;
  /** The address under which the roles find an engine: fault tests put a proxy there. Default: its own. */
  readonly through?: (engine: Engine, url: string) => string;
}
export type Engine = 'postgres' | 'clickhouse';

export async function startInstance(options: InstanceOptions): Promise<Instance> {
  const { config, log } = options;
  const supervisor = new Supervisor(log);
  const dataDirectory = resolve(config.DATA_DIR);
  armFailpoints(config.FAILPOINTS);
  // Reports a running instance on the directory first, although its port is in use too.
  const holder = readRunning(dataDirectory);
  if (holder !== null) throw alreadyRunning(dataDirectory, holder);
  await checkMachine(config, dataDirectory);
  const claim = InstanceFile.claim(dataDirectory);
  try {
    const mark = new RunningMark(dataDirectory);
    const [{ ownerUrl, url: postgresUrl, apiUrl }, clickhouseUrl] = await Promise.all([
      config.POSTGRES_URL === undefined
        ? addPostgres(supervisor, join(dataDirectory, 'postgres'), log)
        : {
            ownerUrl: config.POSTGRES_URL,
            url: config.POSTGRES_URL,
            apiUrl: config.API_POSTGRES_URL,
          },
      config.CLICKHOUSE_URL ?? addClickHouse(supervisor, join(dataDirectory, 'clickhouse'), log),
    ]);

    const pool = connectPostgres({ url: ownerUrl, applicationName: 'start', maxConnections: 2 });
    const { apiKey, firstPerson } = await (async () => {
      await migrateStores(pool, clickhouseUrl, log);
      const boot = bootId();
      if (mark.isOfAnotherBoot(boot) && config.CLICKHOUSE_URL === undefined) {
        const partitions = await requestReplay(pool);
        failpoint('start.after_replay_request');
        log.warn(
          { partitions },
          'the machine went down under the engines: the last day is replayed',
        );
      }
      mark.set(boot);
      const ids = createIds(systemClock);
      const { BOOTSTRAP_API_KEY: apiKey, BOOTSTRAP_EMAIL: email } = config;
      const nowMs = systemClock.now();
      return await bootstrapTenant(pool, ids, { dataDirectory, apiKey, email, nowMs });
    })().finally(() => pool.end({ timeout: 1 }));

    const port = config.PORT === 0 ? await freePort() : config.PORT;
    const operationsPorts = {
      serve: await freePort(),
      stream: await freePort(),
      jobs: await freePort(),
    };
    const roles = options.roles ?? ROLES;
    const sealing =
      config.ENCRYPTION_KEY === undefined && config.POSTGRES_URL === undefined
        ? { ENCRYPTION_KEY: encryptionKeyIn(dataDirectory) }
        : {};
    const through = options.through ?? ((_engine, url) => url);
    const found = {
      postgresUrl: through('postgres', postgresUrl),
      ownerUrl: through('postgres', ownerUrl),
      apiPostgresUrl: apiUrl === undefined ? undefined : through('postgres', apiUrl),
      clickhouseUrl: through('clickhouse', clickhouseUrl),
    };
    const env = (role: Role): NodeJS.ProcessEnv => ({
      ...process.env,
      ...sealing,
      ...options.env,
      LOG_LEVEL: config.LOG_LEVEL,
      HOST: config.HOST,
      PORT: String(port),
      POSTGRES_URL: found.postgresUrl,
      API_POSTGRES_URL: role === 'serve' ? found.apiPostgresUrl : undefined,
      CLICKHOUSE_URL: found.clickhouseUrl,
      OPERATIONS_PORT: String(operationsPorts[role]),
      OPERATIONS_PEERS: roles
        .filter((other) => other !== role)
        .map((other) => operationsPorts[other])
        .join(','),
    });
    await Promise.all(roles.map((role) => supervisor.add(roleProcess(role, env(role)))));
    const baseUrl = `http://${config.HOST}:${port}`;
    const settings = Object.fromEntries(
      SHARED_SETTINGS.flatMap((name) => {
        const value = env('stream')[name];
        return value === undefined || value === '' ? [] : [[name, value]];
      }),
    );
    claim.publish({ base_url: baseUrl, settings, operations_ports: operationsPorts });
    return {
      baseUrl,
      apiKey,
      firstPerson,
      ...found,
      operationsPorts,
      pids: () => supervisor.pids(),
      async stop() {
        await supervisor.stop();
        mark.end();
        claim.release();
      },
    };
  } catch (error) {
    await supervisor.stop();
    claim.release();
    throw error;
  }
}

/** The port is chosen once: a restarted server must be found at the address that the roles use. */
async function addPostgres(
  supervisor: Supervisor,
  directory: string,
  log: Logger,
): Promise<{ readonly ownerUrl: string; readonly url: string; readonly apiUrl: string }> {
  const port = await freePort();
  const onLog = (line: string): void => log.debug({ engine: 'postgres' }, line);
  let urls = { ownerUrl: '', url: '', apiUrl: '' };
  await supervisor.add({
    name: 'postgres',
    async start() {
      const server = await startEmbeddedPostgres({ directory, port, onLog });
      // The superuser created these logins and is not used any more.
      urls = { ownerUrl: server.ownerUrl, url: server.workUrl, apiUrl: server.apiUrl };
      return server;
    },
  });
  return urls;
}

async function addClickHouse(
  supervisor: Supervisor,
  directory: string,
  log: Logger,
): Promise<string> {
  const port = await freePort();
  const onLog = (line: string): void => log.debug({ engine: 'clickhouse' }, line);
  let url = '';
  await supervisor.add({
    name: 'clickhouse',
    async start() {
      const server = await startEmbeddedClickHouse({ directory, port, onLog });
      url = server.url;
      return server;
    },
  });
  return url;
}
