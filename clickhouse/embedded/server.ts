import { fork, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { commandOf } from '../../platform/process-command.ts';

/**
 * ClickHouse as a child process: the engine, loaded as a library (chdb), behind the part of ClickHouse's HTTP
 * interface that the product uses. A crash of the engine ends only the child. Acknowledged data is on disk,
 * and the supervisor starts the child again.
 */
export interface EmbeddedClickHouse {
  /** With user and password, for `connectClickHouse`. */
  readonly url: string;
  readonly pid: number;
  /** Resolves when the server has ended, for any reason. */
  readonly exited: Promise<void>;
  /**
   * Lets running queries finish (up to 10 s), closes the data directory, and resolves when the process has
   * ended.
   */
  stop(): Promise<void>;
}

export interface EmbeddedClickHouseOptions {
  /** Created if missing; contains `data/`, the password file and the process id. One server at a time. */
  readonly directory: string;
  /** Default: a free port. */
  readonly port?: number;
  readonly onLog?: (line: string) => void;
  /** Node flags of the child, for running from sources. */
  readonly execArgv?: readonly string[];
}

/** Start options of the child. Sent over the channel to its parent, because they include the password. */
export interface EmbeddedProcessOptions {
  readonly directory: string;
  readonly port: number;
  readonly password: string;
  readonly readSessions: number;
  readonly analyticsSessions: number;
  readonly insertSessions: number;
}

/** Sent by the child once it serves. */
export interface EmbeddedProcessReady {
  readonly port: number;
}

const USER = 'default';
/** Limit for a start that hangs: when sources must be compiled on a busy machine, a start takes a minute. */
const READY_MS_MAX = 300_000;
const STOP_MS_MAX = 15_000;

/**
 * One session runs one query at a time, so a quick read never waits while fewer than this many others run.
 * Wide queries and inserts have their own sessions. An idle session costs almost nothing.
 */
const READ_SESSIONS = 6;
const ANALYTICS_SESSIONS = 6;
const INSERT_SESSIONS = 4;
const SESSIONS = READ_SESSIONS + ANALYTICS_SESSIONS + INSERT_SESSIONS;

export async function startEmbeddedClickHouse(
  options: EmbeddedClickHouseOptions,
): Promise<EmbeddedClickHouse> {
  const directory = resolve(options.directory);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // Also repairs a directory that an earlier release or the umask left open.
  chmodSync(directory, 0o700);
  const pidFile = join(directory, 'server.pid');
  await endLeftover(pidFile);
  const password = passwordOf(directory);
  const processOptions: EmbeddedProcessOptions = {
    directory: join(directory, 'data'),
    port: options.port ?? 0,
    password,
    readSessions: READ_SESSIONS,
    analyticsSessions: ANALYTICS_SESSIONS,
    insertSessions: INSERT_SESSIONS,
  };
  // The extension is .js in the build and .ts in the sources.
  const entry = new URL(`./process${extname(import.meta.url)}`, import.meta.url);
  // A process group of its own: Ctrl-C in the terminal must reach only the supervisor.
  const child = fork(fileURLToPath(entry), [], {
    detached: true,
    execArgv: options.execArgv === undefined ? process.execArgv : [...options.execArgv],
    env: { ...process.env, UV_THREADPOOL_SIZE: String(SESSIONS + 4) },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  child.send(processOptions);
  writeFileSync(pidFile, String(child.pid));
  const exited = once(child, 'exit').then(() => {});
  const port = await untilReady(child, exited, options.onLog);
  return {
    url: `http://${USER}:${password}@127.0.0.1:${port}/default`,
    pid: child.pid!,
    exited,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      const killer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
      await exited;
      clearTimeout(killer);
    },
  };
}

async function untilReady(
  child: ChildProcess,
  exited: Promise<void>,
  onLog: ((line: string) => void) | undefined,
): Promise<number> {
  let lastWords = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lastWords = (lastWords + text).slice(-2_000);
    onLog?.(text.trimEnd());
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), READY_MS_MAX);
  try {
    return await Promise.race([
      once(child, 'message').then(([message]) => (message as EmbeddedProcessReady).port),
      exited.then(() =>
        Promise.reject(new Error(`ClickHouse ended while it was starting: ${lastWords.trim()}`)),
      ),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

/** Read at every start; other users cannot access the directory. */
function passwordOf(directory: string): string {
  const file = join(directory, 'password');
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString('hex'), { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}

/** Ends a server that still holds the data directory because its parent was just killed. */
async function endLeftover(pidFile: string): Promise<void> {
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8'));
  for (let waitedMs = 0; waitedMs < 5_000 && isServer(pid); waitedMs += 50) await sleep(50);
  if (isServer(pid)) process.kill(pid, 'SIGKILL');
  while (isServer(pid)) await sleep(20);
  rmSync(pidFile, { force: true });
}

function isServer(pid: number): boolean {
  return commandOf(pid)?.some((word) => word.includes('clickhouse/embedded/process')) ?? false;
}
