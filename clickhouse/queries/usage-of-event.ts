import type { Position } from '../../domain/metering/position.ts';
import type { ClickHouseQuery } from '../client.ts';
import type { MeterUsageRow } from '../rows.ts';
import type { EventId } from './event-copies.ts';
import { USAGE_AT_EVENT } from './event-places.ts';

export type MeterUsageCells = [
  meterVersionId: string,
  value: string,
  uniqueHash: string,
  dimensions: string[],
  source: string,
];

export interface EventPlace {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly external_customer_id: string;
  readonly timestamp: number;
  readonly partition: number;
  readonly position: Position;
}

/** What each meter version counted of one event. */
export function usageOfEvent(place: EventPlace): ClickHouseQuery {
  return {
    sql: `
      select meter_version_id, value, lower(hex(UUIDToNum(unique_hash))), dimensions, source
        from meter_usage_v1 final
       where tenant_id = {tenant_id:String} and environment_id = {environment_id:String}
         and external_customer_id = {external_customer_id:String}
         and timestamp = fromUnixTimestamp64Milli({timestamp:Int64}, 'UTC')
         and partition = {partition:UInt16} and position = {position:UInt64}
       order by meter_version_id`,
    params: { ...place },
  };
}

/**
 * The same for all events at the places of the copies of an id, with their positions: partition, position,
 * cells.
 */
export function usageAtEvent(id: EventId): ClickHouseQuery {
  return {
    sql: `
      select partition, position, meter_version_id, value, lower(hex(UUIDToNum(unique_hash))), dimensions, source
        from meter_usage_v1 final
       where tenant_id = {tenant_id:String} and environment_id = {environment_id:String}
         and ${USAGE_AT_EVENT}
       order by meter_version_id`,
    params: { ...id },
  };
}

export type UsageAtEventCells = [partition: number, position: string, ...MeterUsageCells];

export function meterUsageRow(place: EventPlace, cells: MeterUsageCells): MeterUsageRow {
  return {
    ...place,
    meter_version_id: cells[0],
    value: cells[1],
    unique_hash: cells[2],
    dimensions: cells[3],
    source: cells[4],
  };
}
