import type { ClickHouse } from '../client.ts';

/** The same client; its reads throw once `signal` is aborted. */
export const readsUntil = (signal: AbortSignal, clickhouse: ClickHouse): ClickHouse => ({
  ...clickhouse,
  rows: (query, options) => clickhouse.rows(query, { ...options, signal }),
  bytes: (query, format, options) => clickhouse.bytes(query, format, { ...options, signal }),
});
