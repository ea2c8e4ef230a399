import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectClickHouse, type ClickHouse } from '../../clickhouse/client.ts';
import {
  startEmbeddedClickHouse,
  type EmbeddedClickHouse,
} from '../../clickhouse/embedded/server.ts';
import { SOURCE_EXEC_ARGV } from '../support/global-setup.ts';
import { PATIENCE } from '../support/patience.ts';
import { describeWithPrlimit } from '../support/requires.ts';

/** Values that do not compress, so that a column takes as many bytes as it has rows, times eight. */
const rows = (from: number, count: number): string =>
  Array.from({ length: count }, (_, index) =>
    JSON.stringify([String((BigInt(from + index + 1) * 0x9e3779b97f4a7c15n) % (1n << 63n))]),
  ).join('\n');

/** The limit on the size of a file makes writes fail as a full disk does, for one process and without root. */
describeWithPrlimit('embedded ClickHouse, when writes to files fail', () => {
  let directory: string;
  let server: EmbeddedClickHouse;
  let clickhouse: ClickHouse;
  const logged: string[] = [];
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'meterline-clickhouse-'));
    await start();
    await clickhouse.command({
      sql: `create table kept (a UInt64) engine = MergeTree order by a
            settings min_bytes_for_wide_part = 0`,
      params: {},
    });
  });
  afterEach(async () => {
    await clickhouse.close();
    await server.stop();
    rmSync(directory, { recursive: true, force: true, maxRetries: 20 });
  });

  async function start(): Promise<void> {
    server = await startEmbeddedClickHouse({
      directory,
      execArgv: SOURCE_EXEC_ARGV,
      onLog: (line) => logged.push(line),
    });
    clickhouse = connectClickHouse({
      url: server.url,
      applicationName: 'test',
      patience: PATIENCE,
    });
  }
  const limit = (bytes: number) =>
    execFileSync('prlimit', ['--pid', String(server.pid), `--fsize=${bytes}`]);
  async function restarted(): Promise<void> {
    await server.exited;
    await clickhouse.close();
    await start();
  }
  const read = async (sql: string): Promise<number> =>
    Number((await clickhouse.rows<[string]>({ sql, params: {} }))[0]![0]);
  const count = () => read('select uniqExact(a) from kept');

  test('an insert is refused as an outage, and the next process sets its part aside', async () => {
    await clickhouse.insert('kept', ['a'], rows(0, 1_000));
    limit(20_000);
    await expect(clickhouse.insert('kept', ['a'], rows(1_000, 10_000))).rejects.toMatchObject({
      code: '75',
    });
    await restarted();
    expect(logged.join('\n')).toContain('writes to files failed');
    expect(await count()).toBe(1_000);
    await clickhouse.insert('kept', ['a'], rows(1_000, 10_000));
    expect(await count()).toBe(11_000);
  });

  test('a failed merge ends the process, and the next process has the parts as before the merge', async () => {
    limit(20_000);
    const begun = { parts: 0 };
    // The engine merges by itself. A request that the process can no longer answer was not acknowledged.
    for (;;) {
      try {
        await clickhouse.insert('kept', ['a'], rows(begun.parts * 2_000, 2_000));
        begun.parts += 1;
      } catch {
        break;
      }
    }
    await restarted();
    expect(begun.parts).toBeGreaterThan(1);
    expect(await count()).toBeGreaterThanOrEqual(begun.parts * 2_000);
    expect(await count()).toBeLessThanOrEqual((begun.parts + 1) * 2_000);
    expect(await read(`select count() from system.detached_parts`)).toBeGreaterThan(0);
  });
});
