import type { AggregationType } from '../../domain/metering/usage.ts';
import type { ClickHouseQuery } from '../client.ts';
import type { RowBinaryReader } from '../row-binary.ts';
import { numericValue, propertyFilters, scalarText } from './scalar-text.ts';
import { readState, stateColumns, stateNeeds } from './usage-buckets.ts';

/** A question about raw events of one name, without a meter. Milliseconds, half-open. */
export interface RawUsage {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly event_name: string;
  readonly external_customer_id: string | null;
  readonly aggregation: AggregationType;
  /** Null: every event counts as 1. */
  readonly property_name: string | null;
  readonly start: number;
  readonly end: number;
  readonly filters: Readonly<Record<string, readonly string[]>>;
  /** Seconds that are added up together; 0: the whole range. */
  readonly step: number;
}

/**
 * Canonical events by step, whatever has been stored so far. Events without a usable value are not
 * counted, by the rules of meters.
 */
export function rawUsage(query: RawUsage): ClickHouseQuery {
  const filters = propertyFilters(query.filters);
  const isUnique = query.aggregation === 'COUNT_UNIQUE';
  const property = query.property_name === null ? null : scalarText('{property_name:String}');
  const value = property === null || isUnique ? 'toDecimal256(1, 18)' : numericValue('text');
  const needs = stateNeeds(new Set([query.aggregation]));
  return {
    sql: `
      select toUInt32(if({step:UInt32} = 0, 0, intDiv(toUnixTimestamp(timestamp), {step:UInt32}) * {step:UInt32})) as slot,
             ${stateColumns(needs)}
             ${isUnique ? ', groupUniqArray(sipHash128(text))' : ''}
        from (select timestamp, position, partition, text, toDecimal128(assumeNotNull(number), 18) as value
                from (select *, ${value} as number
                        from (select timestamp, position, partition, ${property ?? "''"} as text
                                from events_raw_v1 final
                               where tenant_id = {tenant_id:String} and environment_id = {environment_id:String}
                                 and event_name = {event_name:String}
                                 ${query.external_customer_id === null ? '' : 'and external_customer_id = {external_customer_id:String}'}
                                 and timestamp >= fromUnixTimestamp64Milli({start_ms:Int64}, 'UTC')
                                 and timestamp < fromUnixTimestamp64Milli({end_ms:Int64}, 'UTC')
                                 and is_canonical
                                 and (partition, position) not in (
                                       select target_partition, target_position from usage_void_v1
                                        where tenant_id = {tenant_id:String} and environment_id = {environment_id:String})
                                 ${filters.sql}))
               where text is not null and number is not null)
       group by slot`,
    params: {
      tenant_id: query.tenant_id,
      environment_id: query.environment_id,
      event_name: query.event_name,
      start_ms: query.start,
      end_ms: query.end,
      step: query.step,
      ...(query.external_customer_id === null
        ? {}
        : { external_customer_id: query.external_customer_id }),
      ...(query.property_name === null ? {} : { property_name: query.property_name }),
      ...filters.params,
    },
  };
}

export interface RawUsageSlot {
  /** Milliseconds. */
  readonly slot: number;
  readonly state: ReturnType<typeof readState>;
  /** Hashes of the distinct texts; empty unless they are counted. */
  readonly uniques: readonly string[];
}

export function readRawUsage(reader: RowBinaryReader, aggregation: AggregationType): RawUsageSlot {
  return {
    slot: reader.uint32() * 1000,
    state: readState(reader, stateNeeds(new Set([aggregation]))),
    uniques: aggregation === 'COUNT_UNIQUE' ? reader.hashes() : [],
  };
}
