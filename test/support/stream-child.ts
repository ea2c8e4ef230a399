import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { SealerOptions } from '../../stream/sealer.ts';
import { QUICK_SEALER, type MeteringWorld } from './metering-world.ts';

export interface StreamProcessSettings {
  readonly postgresUrl: string;
  readonly clickhouseUrl: string;
  readonly batchEvents: number;
  readonly batchWaitMs: number;
  readonly leaseMs: number;
  /** As `FAILPOINTS`. */
  readonly failpoints: string;
  readonly sealer: SealerOptions;
  readonly logLevel: string;
}

/** A stream in a process of its own. */
export interface StreamChild {
  readonly pid: number;
  /** Resolves with the signal that ended it, or null if it ended without one. */
  readonly exited: Promise<string | null>;
  isAlive(): boolean;
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
  /** SIGSTOP: the process is paused and its connections stay open. */
  pause(): void;
  resume(): void;
  /** SIGTERM: drains. */
  stop(): Promise<void>;
}

export async function startStreamChild(
  world: MeteringWorld,
  given: Partial<StreamProcessSettings> = {},
): Promise<StreamChild> {
  const settings: StreamProcessSettings = {
    postgresUrl: world.postgresUrl,
    clickhouseUrl: world.clickhouseUrl,
    batchEvents: 500,
    batchWaitMs: 20,
    leaseMs: 1_000,
    failpoints: '',
    sealer: QUICK_SEALER,
    logLevel: process.env['TEST_LOG_LEVEL'] ?? 'silent',
    ...given,
  };
  const loader = fileURLToPath(new URL('../../scripts/typescript.js', import.meta.url));
  const script = fileURLToPath(new URL('./stream-process.ts', import.meta.url));
  const child = fork(script, [JSON.stringify(settings)], { execArgv: ['--import', loader] });
  const exited = once(child, 'exit').then(([, signal]) => signal as string | null);
  // A failpoint may end it before it is ready.
  await Promise.race([once(child, 'message'), exited]);
  return control(child, exited);
}

function control(child: ChildProcess, exited: Promise<string | null>): StreamChild {
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid!,
    exited,
    isAlive,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async stop() {
      if (!isAlive()) return;
      child.kill('SIGTERM');
      await exited;
    },
  };
}
