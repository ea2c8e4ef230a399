import type { ClickHouse } from '../../clickhouse/client.ts';
import { SERVICE } from '../../clickhouse/query-limits.ts';

const ROWS = ['events_raw_v1', 'event_places_v1', 'meter_usage_v1'];
const INDEX = ['event_index_v1'];
const BUCKETS = [
  'usage_touched_v1',
  'usage_per_15m_v1',
  'usage_per_day_v1',
  'usage_uniques_per_day_v1',
];

/** Merges parts as a server does over days, so that disk size and reads reach their final state. */
export async function mergeAll(
  clickhouse: ClickHouse,
  note: (text: string) => void,
): Promise<void> {
  for (const table of [...ROWS, ...INDEX, ...BUCKETS]) {
    const began = performance.now();
    await clickhouse.command(
      {
        sql: `optimize table ${table} final settings optimize_skip_merged_partitions = 1`,
        params: {},
      },
      { limits: { ...SERVICE, seconds: 3_600 }, timeoutMs: 3_600_000 },
    );
    note(`merged ${table} in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  }
}

/** Bytes of active parts per event, indexes and marks included. */
export async function bytesPerEvent(clickhouse: ClickHouse, events: number) {
  const rows = await clickhouse.rows<[string, string, string]>({
    sql: `select table, sum(bytes_on_disk), sum(rows) from system.parts
           where active and database = currentDatabase() group by table`,
    params: {},
  });
  const bytes = new Map(rows.map(([table, size]) => [table, Number(size)]));
  const columns = await clickhouse.rows<[string, string, string]>({
    sql: `select table, name, sum(data_compressed_bytes) as size from system.columns
           where database = currentDatabase() and table in {tables:Array(String)}
           group by table, name order by size desc`,
    params: { tables: [...ROWS, ...INDEX] },
  });
  const of = (tables: readonly string[]) =>
    tables.reduce((sum, table) => sum + (bytes.get(table) ?? 0), 0) / events;
  const each = columns.map(
    ([table, name, size]) => `${table}.${name} ${(Number(size) / events).toFixed(2)}`,
  );
  return {
    rows: of(ROWS),
    index: of(INDEX),
    buckets: of(BUCKETS),
    detail: `bytes per event by column: ${each.join(', ')}; by table: ${rows
      .map(([table, size]) => `${table} ${(Number(size) / events).toFixed(2)}`)
      .join(', ')}`,
  };
}
