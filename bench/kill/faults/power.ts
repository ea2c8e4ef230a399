import { execFileSync } from 'node:child_process';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, FaultWorld } from './fault.ts';

const AGE_MS = [500, 5_000] as const;

/**
 * The machine loses power: all processes end, and the ClickHouse directory is replaced by a copy that is some
 * seconds older, because ClickHouse does not force its files to disk. The copy is made while ClickHouse is stopped.
 * The mark of the running product names another boot, as after a restart of the machine. Postgres keeps its data:
 * it forces each commit to disk.
 */
export const power = ({ tree, random, dataDirectory }: FaultWorld): Fault => ({
  name: 'power',
  weight: 1,
  async strike() {
    const directory = join(dataDirectory, 'clickhouse');
    const older = join(dataDirectory, '..', 'clickhouse-older');
    rmSync(older, { recursive: true, force: true });
    const { clickhouse } = tree.pids();
    if (clickhouse === undefined || !signal(clickhouse, 'SIGSTOP'))
      return { what: 'no ClickHouse', ended: [] };
    try {
      execFileSync('cp', ['-a', directory, older]);
    } finally {
      signal(clickhouse, 'SIGCONT');
    }
    await sleep(random.integer(...AGE_MS));
    const pids = tree.pids();
    const { postgres: _, ...others } = pids;
    await tree.replaceSupervisor(() => {
      for (const pid of Object.values(others)) signal(pid, 'SIGKILL');
      rmSync(directory, { recursive: true, force: true, maxRetries: 20 });
      renameSync(older, directory);
      writeFileSync(join(dataDirectory, 'running'), 'another boot');
    });
    return { what: 'power', ended: Object.keys(pids) };
  },
});

/** False if the process is already gone. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
