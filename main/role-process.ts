import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ChildSpec, RunningChild } from './supervisor.ts';

/** Message of a role to its supervisor over the process channel, sent once. */
export interface RoleReady {
  readonly ready: true;
  /** Port of the role's health and metrics server on loopback. */
  readonly operations_port: number;
}

/**
 * A batch of events is about 30 MB of short-lived objects. With enough room in the young generation they are
 * collected there (measured against the default of 16 MB: a quarter less CPU in the stream). Not for
 * processes that answer requests: at 500 creates a second a collection of this size stopped all of them for
 * 15 to 24 ms, every 0.85 s. With the default it is 5 to 7, for the same CPU per create; bulk calls take an
 * eighth more.
 */
const STREAM_EXEC_ARGV = ['--max-semi-space-size=64'];
const READY_MS_MAX = 180_000;
/** Longer than a role's own drain limit, so that it applies only as the last resort. */
const STOP_MS_MAX = 15_000;

/**
 * A role as a child process. It has its own process group: Ctrl-C in a terminal reaches the whole foreground
 * group, but the supervisor must control the order of the drain.
 */
export function roleProcess(
  role: 'serve' | 'stream' | 'jobs',
  env: NodeJS.ProcessEnv,
  onReady: (message: RoleReady) => void = () => {},
): ChildSpec {
  return {
    name: role,
    async start(): Promise<RunningChild> {
      const child = fork(fileURLToPath(new URL(`./${role}.js`, import.meta.url)), {
        env,
        detached: true,
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        execArgv: role === 'stream' ? STREAM_EXEC_ARGV : [],
      });
      const exited = once(child, 'exit').then(() => {});
      const timer = setTimeout(() => child.kill('SIGKILL'), READY_MS_MAX);
      const message = await Promise.race([
        once(child, 'message').then(([first]) => first as RoleReady),
        exited.then(() => Promise.reject(new Error(`${role} ended before it was ready`))),
      ]);
      clearTimeout(timer);
      onReady(message);
      return {
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
    },
  };
}
