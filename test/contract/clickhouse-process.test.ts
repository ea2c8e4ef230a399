import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connectClickHouse, type ClickHouse } from '../../clickhouse/client.ts';
import {
  startEmbeddedClickHouse,
  type EmbeddedClickHouse,
} from '../../clickhouse/embedded/server.ts';
import { ANALYTICS, LOOK_UP, type QueryLimits } from '../../clickhouse/query-limits.ts';
import { SOURCE_EXEC_ARGV } from '../support/global-setup.ts';
import { PATIENCE, WAIT_MS } from '../support/patience.ts';

/** The server as a process: what survives a kill, and which process ends it. */
describe('embedded ClickHouse process', () => {
  let directory: string;
  let server: EmbeddedClickHouse | undefined;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'meterline-clickhouse-'));
  });
  afterEach(async () => {
    await server?.stop();
    server = undefined;
    rmSync(directory, { recursive: true, force: true, maxRetries: 20 });
  });

  const start = async (port?: number) => {
    server = await startEmbeddedClickHouse({ directory, port, execArgv: SOURCE_EXEC_ARGV });
    return server;
  };
  const connect = (url: string) =>
    connectClickHouse({ url, applicationName: 'test', patience: PATIENCE });
  const count = async (clickhouse: ClickHouse) => {
    const [row] = await clickhouse.rows<[string]>({ sql: 'select count() from kept', params: {} });
    return Number(row![0]);
  };

  test('a large query takes one thread while small queries run', async () => {
    const { url } = await start();
    const clickhouse = connect(url);
    const threadsOf = async (limits: QueryLimits) => {
      const sql = `select toUInt32(getSetting('max_threads'))`;
      const [row] = await clickhouse.rows<[number]>({ sql, params: {} }, { limits });
      return row![0];
    };
    expect(await threadsOf(ANALYTICS)).toBe(ANALYTICS.threads);
    // The two may be a second apart, and by then no small query runs any more.
    const until = performance.now() + WAIT_MS;
    for (let threads = 0; threads !== 1;) {
      expect(performance.now()).toBeLessThan(until);
      await threadsOf(LOOK_UP);
      threads = await threadsOf(ANALYTICS);
    }
    await clickhouse.close();
  });

  test('acknowledged rows survive kill -9, at the same address', async () => {
    let acknowledged = 0;
    let port: number | undefined;
    for (let round = 0; round < 3; round += 1) {
      const { url, pid, exited } = await start(port);
      port = Number(new URL(url).port);
      const clickhouse = connect(url);
      await clickhouse.command({
        sql: 'create table if not exists kept (a UInt64) engine = MergeTree order by a',
        params: {},
      });
      const before = await count(clickhouse);
      expect(before).toBeGreaterThanOrEqual(acknowledged);
      expect(before).toBeLessThanOrEqual(acknowledged + 100);
      acknowledged = before;
      for (let i = 0; i < 10; i += 1) {
        await clickhouse.insert('kept', ['a'], '[1]\n'.repeat(100));
        acknowledged += 100;
      }
      // One more insert is in progress: all of it is stored, or nothing.
      const unknown = clickhouse.insert('kept', ['a'], '[1]\n'.repeat(100)).catch(() => {});
      process.kill(pid, 'SIGKILL');
      await exited;
      await unknown;
      await clickhouse.close();
      server = undefined;
    }
    const clickhouse = connect((await start(port)).url);
    expect([acknowledged, acknowledged + 100]).toContain(await count(clickhouse));
    await clickhouse.close();
  });

  test('it answers running queries before it stops, and starts again with its data', async () => {
    const first = await start();
    const clickhouse = connect(first.url);
    await clickhouse.command({
      sql: 'create table kept (a UInt64) engine = MergeTree order by a',
      params: {},
    });
    const running = clickhouse.rows({ sql: 'select sleep(0.5)', params: {} });
    await clickhouse.insert('kept', ['a'], '[1]\n');
    await first.stop();
    expect(await running).toEqual([[0]]);
    await clickhouse.close();
    const again = connect((await start()).url);
    expect(await count(again)).toBe(1);
    await again.close();
  });

  test('it ends when its parent is killed, and the next start can use the data', async () => {
    const script = fileURLToPath(new URL('./clickhouse/parent.ts', import.meta.url));
    const parent = spawn(process.execPath, [...SOURCE_EXEC_ARGV, script, directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(parent.stdout!, 'data')) as [Buffer];
    const pid = Number(line.toString());
    expect(isRunning(pid)).toBe(true);
    parent.kill('SIGKILL');
    const deadline = Date.now() + WAIT_MS;
    while (isRunning(pid) && Date.now() < deadline) await sleep(20);
    expect(isRunning(pid)).toBe(false);
    expect((await start()).pid).not.toBe(pid);
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
