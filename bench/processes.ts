import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const TICKS_PER_SECOND = 100;

/** CPU seconds used by a process and all its descendants, ended ones included. */
export function cpuSecondsOfTree(pid: number): number {
  const processes = new Map<number, { parent: number; seconds: number }>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0);
      processes.set(Number(entry), {
        parent: Number(fields[1]),
        seconds: ticks / TICKS_PER_SECOND,
      });
    } catch {
      // It ended in between.
    }
  }
  let seconds = 0;
  for (const [id, { seconds: own }] of processes) {
    for (let at: number | undefined = id; at !== undefined; at = processes.get(at)?.parent)
      if (at === pid) {
        seconds += own;
        break;
      }
  }
  return seconds;
}

/** Process of the Kafka broker that listens on this port; null if it is on another machine. */
export function findBroker(port: number): number | null {
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const args = readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0');
      const file = args.find((arg) => arg.endsWith('server.properties'));
      if (file !== undefined && readFileSync(file, 'utf8').includes(`:${port}`))
        return Number(entry);
    } catch {
      // No permission to read it, or it ended in between.
    }
  }
  return null;
}

/** A child process of a bench. It answers messages in order; the first answer means it is ready. */
export interface BenchProcess {
  readonly pid: number;
  ask<Answer>(message: unknown): Promise<Answer>;
  stop(): Promise<void>;
}

export async function startBenchProcess(
  script: URL,
  settings: unknown,
  execArgv: readonly string[] = [],
): Promise<BenchProcess> {
  // A bench that runs from the build finds the script there too.
  const path = fileURLToPath(script).replace(
    /\.ts$/,
    import.meta.url.endsWith('.ts') ? '.ts' : '.js',
  );
  const child: ChildProcess = fork(path, [JSON.stringify(settings)], {
    execArgv: [...process.execArgv, ...execArgv],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${script.pathname} ended with ${code}`);
  });
  ended.catch(() => {});
  const next = async <Answer>(): Promise<Answer> => {
    const [answer] = (await Promise.race([once(child, 'message'), ended])) as [Answer];
    return answer;
  };
  await next();
  return {
    pid: child.pid!,
    ask<Answer>(message: unknown) {
      child.send(message as object);
      return next<Answer>();
    },
    async stop() {
      child.kill('SIGTERM');
      await ended.catch(() => {});
    },
  };
}
