import type { ClickHouseQuery } from '../client.ts';
import { RAW_EVENT_COLUMNS } from './raw-events.ts';

/** Rows of one log partition from a position on. */
export interface RowsFrom {
  readonly partition: number;
  readonly from: bigint;
}

/** The copies at the greatest positions, greatest first. A skip index excludes parts with lower positions. */
export function newestRows({ partition, from }: RowsFrom, limit: number): ClickHouseQuery {
  return {
    sql: `
      select position, tenant_id, environment_id, event_id
        from events_raw_v1
       where partition = {partition:UInt16} and position >= {from:UInt64}
       order by position desc
       limit {limit:UInt32}`,
    params: { partition, from, limit },
  };
}

/** All copies from a position on, in order, a page at a time. */
export function rawRowsFrom({ partition, from }: RowsFrom, limit: number): ClickHouseQuery {
  return {
    sql: `
      select ${RAW_EVENT_COLUMNS}
        from events_raw_v1
       where partition = {partition:UInt16} and position >= {from:UInt64}
       order by position
       limit 1 by position
       limit {limit:UInt32}`,
    params: { partition, from, limit },
  };
}

/**
 * Deletes rows of a partition from a position on, in all tables that the stream writes. The index stores no
 * partition: the first 32 bits of a slot choose its partition among `partitions`.
 */
export function removeRowsFrom(at: RowsFrom & { readonly partitions: number }): ClickHouseQuery[] {
  const params = { ...at };
  const settings = 'settings mutations_sync = 2';
  const ofPartition = 'partition = {partition:UInt16} and position >= {from:UInt64}';
  return [
    ...['events_raw_v1', 'meter_usage_v1', 'usage_void_v1', 'events_rejected_v1'].map((table) => ({
      sql: `alter table ${table} delete where ${ofPartition} ${settings}`,
      params,
    })),
    {
      sql: `alter table event_index_v1 delete
             where position >= {from:UInt64}
               and reinterpretAsUInt32(reverse(substring(UUIDToNum(slot), 1, 4))) % {partitions:UInt32} = {partition:UInt16}
          ${settings}`,
      params,
    },
  ];
}
