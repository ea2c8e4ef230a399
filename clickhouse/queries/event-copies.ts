import type { ClickHouseQuery } from '../client.ts';
import { AT_EVENT, AT_EVENTS } from './event-places.ts';
import { RAW_EVENT_COLUMNS } from './raw-events.ts';

export interface EventId {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly event_id: string;
}

const ONE_EVENT = `tenant_id = {tenant_id:String} and environment_id = {environment_id:String}
         and event_id = {event_id:String}`;

/** Accepted copies of one id, newest first, each once. */
export function eventCopies(id: EventId, limit: number): ClickHouseQuery {
  return {
    sql: `
      select ${RAW_EVENT_COLUMNS}
        from events_raw_v1
       where ${ONE_EVENT} and ${AT_EVENT}
       order by ingested_at desc, position desc, partition
       limit 1 by position, partition
       limit {limit:UInt32}`,
    params: { ...id, limit },
  };
}

/** The canonical copy: the first one accepted. */
export function canonicalCopy(id: EventId): ClickHouseQuery {
  return {
    sql: `
      select ${RAW_EVENT_COLUMNS}
        from events_raw_v1
       where ${ONE_EVENT} and ${AT_EVENT} and is_canonical
       limit 1`,
    params: { ...id },
  };
}

/** The canonical copies of several ids, without voided events. */
export function countedCopies(
  ids: Omit<EventId, 'event_id'> & { readonly event_ids: readonly string[] },
): ClickHouseQuery {
  return {
    sql: `
      select ${RAW_EVENT_COLUMNS}
        from events_raw_v1
       where tenant_id = {tenant_id:String} and environment_id = {environment_id:String}
         and event_id in {event_ids:Array(String)} and ${AT_EVENTS} and is_canonical
         and (partition, position) not in (
               select target_partition, target_position from usage_void_v1
                where tenant_id = {tenant_id:String} and environment_id = {environment_id:String})
       limit 1 by event_id`,
    params: { ...ids },
  };
}

/** For a rejection the last three are set; for a correction, the target of its void. */
export type VerdictCells = [
  kind: 'rejected' | 'voided',
  partition: number,
  position: string,
  targetPartition: number,
  targetPosition: string,
  meterVersionId: string,
  reason: string,
  message: string,
];

/**
 * Rejections and voids of the copies of one id, by their positions in the log. One statement for both tables:
 * both are nearly always empty.
 */
export function eventVerdicts(id: EventId): ClickHouseQuery {
  return {
    sql: `
      select *
        from (select 'rejected' as kind, partition, position, toUInt16(0) as target_partition,
                     toUInt64(0) as target_position, meter_version_id, reason, message
                from events_rejected_v1 final
               where ${ONE_EVENT}
              union all
              select 'voided', partition, position, target_partition, target_position, '', '', ''
                from usage_void_v1
               where ${ONE_EVENT}
               limit 1 by position, partition)
       order by position, meter_version_id`,
    params: { ...id },
  };
}
