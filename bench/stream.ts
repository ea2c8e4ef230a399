import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { benchRow, type BenchRow } from './bench-row.ts';
import { readWatermarks } from '../postgres/tables/watermarks.ts';
import { packPosition } from '../domain/metering/position.ts';
import { benchEvent, benchRecords, createBenchMeters, type MeterLayout } from './stream/events.ts';
import { startBenchInstance, type BenchInstance } from './stream/instance.ts';

export interface StreamBench {
  readonly layout: MeterLayout;
  readonly events: number;
  readonly events_per_second: number;
  /** CPU seconds per million events, by process. */
  readonly cpu_seconds_per_million: Readonly<Record<string, number>>;
  readonly stream_rss_mb: number;
}

/**
 * Speed at which the stream processes a log that was filled before it started: read, decide, three
 * inserts, progress. The log has four partitions and records of 1,000 events.
 */
export async function benchStream(layout: MeterLayout, events = 1_200_000): Promise<StreamBench> {
  const instance = await startBenchInstance();
  try {
    await createBenchMeters(instance.pool, layout);
    await fillLog(instance, layout, events);
    return await drain(instance, layout, events);
  } finally {
    await instance.close();
  }
}

async function fillLog(
  { eventLog }: BenchInstance,
  layout: MeterLayout,
  count: number,
): Promise<void> {
  const now = Date.now();
  for (let from = 0; from < count; from += 40_000) {
    const events = Array.from({ length: Math.min(40_000, count - from) }, (_, n) =>
      benchEvent(from + n, layout, now),
    );
    await eventLog.append(benchRecords(events, eventLog.partitions));
  }
}

async function drain(
  instance: BenchInstance,
  layout: MeterLayout,
  events: number,
): Promise<StreamBench> {
  const cpuBefore = instance.cpuSeconds();
  const settings = {
    postgresUrl: instance.postgresUrl,
    clickhouseUrl: instance.clickhouseUrl,
    batchEvents: 20_000,
    batchWaitMs: 500,
  };
  const script = fileURLToPath(new URL('./stream/stream-process.ts', import.meta.url));
  const child = fork(
    script.replace(/\.ts$/, import.meta.url.endsWith('.ts') ? '.ts' : '.js'),
    [JSON.stringify(settings)],
    {
      execArgv: [
        ...process.execArgv,
        ...(process.env['STREAM_EXEC_ARGV'] ?? '').split(' ').filter(Boolean),
      ],
    },
  );
  await once(child, 'message');
  const startedAt = performance.now();
  while (!(await hasPassed(instance))) await new Promise((resolve) => setTimeout(resolve, 50));
  const seconds = (performance.now() - startedAt) / 1000;
  child.send('usage');
  const [usage] = (await once(child, 'message')) as [
    { memory: NodeJS.MemoryUsage; cpu: NodeJS.CpuUsage },
  ];
  const cpuAfter = instance.cpuSeconds();
  child.kill('SIGTERM');
  await once(child, 'exit');
  const perMillion = (cpuSeconds: number): number =>
    Math.round((cpuSeconds / events) * 1e6 * 100) / 100;
  return {
    layout,
    events,
    events_per_second: Math.round(events / seconds),
    cpu_seconds_per_million: {
      stream: perMillion((usage.cpu.user + usage.cpu.system) / 1e6),
      clickhouse: perMillion(cpuAfter.clickhouse - cpuBefore.clickhouse),
      postgres: perMillion(cpuAfter.postgres - cpuBefore.postgres),
    },
    stream_rss_mb: Math.round(usage.memory.rss / 1e6),
  };
}

async function hasPassed({ eventLog, pool }: BenchInstance): Promise<boolean> {
  const [heads, passed] = await Promise.all([eventLog.positions('bench'), readWatermarks(pool)]);
  return heads.every(
    ({ epoch, partition, next }) => (passed[partition] ?? 0n) >= packPosition(epoch, next, 0),
  );
}

export async function run(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const layout of ['three names', 'one name'] as const) {
    const result = await benchStream(layout);
    const cpu = Object.entries(result.cpu_seconds_per_million)
      .map(([name, seconds]) => `${name} ${seconds}`)
      .join(', ');
    rows.push(
      benchRow(
        `stream, three meters on ${layout}`,
        result.events_per_second,
        'events/s',
        null,
        `from a filled log; CPU s/M: ${cpu}; memory ${result.stream_rss_mb} MB`,
      ),
    );
  }
  return rows;
}
