import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ChildSpec, RunningChild } from './supervisor.ts';

/** What a role tells its supervisor over the process channel, once. */
export interface RoleReady {
  readonly ready: true;
  /** Port of the role's health and metrics server on loopback. */
  readonly operations_port: number;
}

/**
 * A batch of events is some 30 MB of short-lived objects. With room for them in the young generation they
 * die there (measured against the default of 16 MB: a quarter less CPU in the stream). Not where requests are
 * answered: at 500 creates a second a collection of so large a one stopped all of them for 15 to 24 ms, every
 * 0.85 s; with the default it is 5 to 7, for the same CPU a create. Bulk calls pay an eighth more for that.
 */
const STREAM_EXEC_ARGV = ['--max-semi-space-size=64'];
const READY_MS_MAX = 180_000;
/** Longer than a role's own drain limit, so that this is the last resort only. */
const STOP_MS_MAX = 15_000;

/**
 * A role as a child process. It gets a process group of its own, because Ctrl-C in a terminal reaches
 * the whole foreground group and the order of the drain is the supervisor's to decide.
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
