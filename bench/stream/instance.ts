import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectClickHouse, type ClickHouse } from '../../clickhouse/client.ts';
import { startEmbeddedClickHouse } from '../../clickhouse/embedded/server.ts';
import { migrateClickHouse } from '../../clickhouse/migrate.ts';
import { createLogger } from '../../platform/log.ts';
import { openPostgresEventLog, type PostgresEventLog } from '../../platform/event-log/postgres.ts';
import { connectPostgres, type Pool } from '../../postgres/client.ts';
import { startEmbeddedPostgres } from '../../postgres/embedded.ts';
import { migratePostgres } from '../../postgres/migrate.ts';

/**
 * Separate engines, configured as the product starts them. Their directory is removed at the end, except
 * when the caller names one: a named directory is kept and reused with its data.
 */
export interface BenchInstance {
  readonly directory: string;
  readonly postgresUrl: string;
  readonly clickhouseUrl: string;
  readonly pool: Pool;
  readonly clickhouse: ClickHouse;
  readonly eventLog: PostgresEventLog;
  /** CPU seconds used by the engines until now, including children. */
  cpuSeconds(): Record<'postgres' | 'clickhouse', number>;
  close(): Promise<void>;
}

export const BENCH_SCOPE = { tenant_id: 'tenant_bench', environment_id: 'env_bench' };

export async function startBenchInstance(
  partitions = 4,
  kept: string | null = null,
): Promise<BenchInstance> {
  const directory = kept ?? mkdtempSync(join(tmpdir(), 'meterline-bench-'));
  mkdirSync(directory, { recursive: true });
  const [postgres, clickhouseServer] = await Promise.all([
    startEmbeddedPostgres({ directory: join(directory, 'postgres') }),
    startEmbeddedClickHouse({ directory: join(directory, 'clickhouse') }),
  ]);
  const pool = connectPostgres({ url: postgres.url, applicationName: 'bench' });
  const clickhouse = connectClickHouse({ url: clickhouseServer.url, applicationName: 'bench' });
  await migratePostgres(pool);
  await migrateClickHouse(clickhouse);
  await pool`insert into tenants (id, name) values (${BENCH_SCOPE.tenant_id}, 'Bench')
    on conflict do nothing`;
  await pool`
    insert into environments (id, tenant_id, name, type)
    values (${BENCH_SCOPE.environment_id}, ${BENCH_SCOPE.tenant_id}, 'Bench', 'production')
    on conflict do nothing`;
  const logger = createLogger('warn', 'bench');
  const eventLog = await openPostgresEventLog({ url: postgres.url, logger, partitions });
  return {
    directory,
    postgresUrl: postgres.url,
    clickhouseUrl: clickhouseServer.url,
    pool,
    clickhouse,
    eventLog,
    cpuSeconds: () => ({
      postgres: cpuSecondsOfTree(postgres.pid),
      clickhouse: cpuSecondsOfTree(clickhouseServer.pid),
    }),
    async close() {
      await eventLog.close();
      await pool.end({ timeout: 1 });
      await clickhouse.close();
      await Promise.all([postgres.stop(), clickhouseServer.stop()]);
      if (kept === null) rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** CPU time of a process and of its running children. */
export function cpuSecondsOfTree(pid: number): number {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,cputimes='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number) as [number, number, number]);
  const inTree = new Set([pid]);
  for (const [child, parent] of rows) if (inTree.has(parent)) inTree.add(child);
  return rows.reduce(
    (sum, [child, , seconds]) =>
      inTree.has(child) ? sum + (cpuSecondsInTicks(child) ?? seconds) : sum,
    0,
  );
}

const TICKS_A_SECOND = 100;

/** CPU time of a process in steps of 10 ms, as Linux counts it; `ps` rounds to seconds. Null on other systems. */
function cpuSecondsInTicks(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may contain spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
  } catch {
    return null;
  }
}
