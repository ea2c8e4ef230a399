import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  existsSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { freePort } from '../platform/free-port.ts';
import { commandOf } from '../platform/process-command.ts';
import { placeIn, systemAccount, type Account } from './embedded-account.ts';
import { platformBinaries } from './embedded-binaries.ts';
import { initializeOnce } from './embedded-data.ts';
import {
  embeddedLogins,
  giveToOwner,
  makeLogins,
  markLeakproof,
  type EmbeddedLogins,
  type Login,
} from './embedded-logins.ts';

/**
 * A real Postgres server as a child process, from the binaries that npm installs. The package's wrapper class
 * is not used: it handles the signals of the importing process and ends the server before the product has
 * drained.
 */
export interface EmbeddedPostgres {
  /** URL of the superuser, for tests. The product uses the logins below. */
  readonly url: string;
  /** URL of the owner of the database: for migrations. */
  readonly ownerUrl: string;
  /** URL of the login of jobs and stream: work across tenants, no change of tables. */
  readonly workUrl: string;
  /** URL of the API's role, which has no other role to switch to: requests of callers. */
  readonly apiUrl: string;
  readonly pid: number;
  /** Resolves when the server has ended, for any reason. */
  readonly exited: Promise<void>;
  /** Ends all sessions, writes a checkpoint, and resolves when the process has ended. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** Created if missing; contains `data/` and the password file. */
  readonly directory: string;
  readonly port?: number;
  /** Server settings, for example `{ fsync: 'off' }` in tests. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly onLog?: (line: string) => void;
}

const DATABASE = 'meterline';
const SUPERUSER = 'postgres';

const DEFAULT_SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '120',
  shared_buffers: '128MB',
  max_wal_size: '2GB',
  wal_compression: 'on',
  checkpoint_completion_target: '0.9',
  timezone: 'UTC',
  // A new installation has no statistics: statements that were planned for empty tables read them whole until
  // autovacuum comes. One database: a look costs milliseconds.
  autovacuum_naptime: '10s',
  // A machine with few cores, and requests for each of them: the recurring fees of 100,000 subscriptions take 236 ms in
  // three processes that share a hash join, and 129 ms in one that merges two indexes.
  max_parallel_workers_per_gather: '0',
  log_min_messages: 'warning',
} as const;

export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const directory = resolve(options.directory);
  const binaries = await platformBinaries();
  const account = systemAccount();
  const root = account.executable(binaries.root);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  account.own(directory);
  // Also if the directory existed with a wider mode: it contains the password.
  chmodSync(directory, 0o700);

  const initdb = initializeWith(account, binaries.program(root, 'initdb'));
  const { dataDirectory, password } = initializeOnce({ directory, own: account.own, initdb });
  await endLeftover(dataDirectory);
  const port = options.port ?? (await freePort());

  const settings: Record<string, string> = { ...DEFAULT_SETTINGS, ...options.settings };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // A separate process group: Ctrl-C in the terminal must reach only the supervisor.
  const place = placeIn(dataDirectory);
  const args = ['-D', place.path(dataDirectory), '-p', String(port), ...flags];
  const child = account.spawn(binaries.program(root, 'postgres'), place, args);
  const exited = once(child, 'exit').then(() => {});
  let lastWords = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lastWords = text.trimEnd();
    options.onLog?.(lastWords);
  });

  const logins = embeddedLogins(password);
  const urlOf = ({ name, password: secret }: Login): string =>
    `postgres://${name}:${secret}@127.0.0.1:${port}/${DATABASE}`;
  await Promise.race([
    untilReady(port, password, logins),
    exited.then(() =>
      Promise.reject(new Error(`Postgres ended while it was starting: ${lastWords}`)),
    ),
  ]);
  return {
    url: urlOf({ name: SUPERUSER, password }),
    ownerUrl: urlOf(logins.owner),
    workUrl: urlOf(logins.work),
    apiUrl: urlOf(logins.api),
    pid: child.pid!,
    exited,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGINT'); // "fast": sessions are ended without waiting
      const killer = setTimeout(() => child.kill('SIGKILL'), 15_000);
      await exited;
      clearTimeout(killer);
    },
  };
}

/** `initdb` with explicit values for everything that would otherwise depend on the machine. */
const initializeWith =
  (account: Account, initdb: string) =>
  (dataDirectory: string, passwordFile: string): void => {
    const place = placeIn(dataDirectory);
    account.run(initdb, place, [
      `--pgdata=${place.path(dataDirectory)}`,
      '--auth=scram-sha-256',
      `--username=${SUPERUSER}`,
      `--pwfile=${place.path(passwordFile)}`,
      '--encoding=UTF8',
      '--locale=C',
    ]);
  };

/**
 * Ends a server that a killed supervisor left behind on the same data. The pid file of an ended server stays:
 * Postgres itself uses it to check that no orphaned session still uses the shared memory.
 */
async function endLeftover(dataDirectory: string): Promise<void> {
  const pidFile = join(dataDirectory, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  if (!isAlive(pid)) return;
  if (!isServerOf(dataDirectory, pid)) {
    // The pid belongs to another program now, and Postgres would refuse to start because of it. Orphaned
    // sessions end within a moment of their server's death.
    await sleep(1_000);
    return void rmSync(pidFile, { force: true });
  }
  process.kill(pid, 'SIGINT');
  for (let waitedMs = 0; waitedMs < 10_000 && isAlive(pid); waitedMs += 50) await sleep(50);
  if (isAlive(pid)) process.kill(pid, 'SIGKILL');
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether the process is a server on this directory: the pid may have been reused by another server. */
function isServerOf(dataDirectory: string, pid: number): boolean {
  const words = commandOf(pid);
  if (words === null || basename(words[0] ?? '') !== 'postgres') return false;
  if (process.platform !== 'linux') return words.includes(dataDirectory);
  return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(dataDirectory);
}

async function untilReady(port: number, password: string, logins: EmbeddedLogins): Promise<void> {
  const connect = (database: string) =>
    postgres({
      host: '127.0.0.1',
      port,
      username: SUPERUSER,
      password,
      database,
      max: 1,
      connect_timeout: 5,
      onnotice: () => {},
    });
  for (let waitedMs = 0; ; waitedMs += 50) {
    const probe = connect('postgres');
    try {
      const found = await probe`select 1 from pg_database where datname = ${DATABASE}`;
      if (found.length === 0) await probe.unsafe(`create database ${DATABASE}`);
      await makeLogins(probe, logins);
      break;
    } catch (error) {
      if (waitedMs > 60_000) throw error;
      await sleep(50);
    } finally {
      await probe.end({ timeout: 1 });
    }
  }
  const database = connect(DATABASE);
  try {
    await giveToOwner(database, DATABASE);
    await markLeakproof(database);
  } finally {
    await database.end({ timeout: 1 });
  }
}
