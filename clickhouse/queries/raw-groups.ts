import type { WatermarkVector } from '../../domain/metering/position.ts';
import type { FilterValues, MeterSpec, UsageQuery } from '../../domain/metering/usage.ts';
import { epochMs } from '../../domain/time/instant.ts';
import type { ClickHouseQuery } from '../client.ts';
import type { RowBinaryReader } from './row-binary.ts';
import type { Cell, PlannedQuery } from './plan-query.ts';
import type { Condition } from './row-bounds.ts';
import { numericValue, propertyFilters, scalarText } from './scalar-text.ts';
import { readState, stateColumns, type StateNeeds, type UsagePart } from './usage-buckets.ts';

/** What is counted, and of which events: a meter's rule without its expression. */
export interface RawSpec extends Pick<MeterSpec, 'event_name' | 'filters'> {
  readonly aggregation: Pick<MeterSpec['aggregation'], 'type' | 'field'>;
  /** Events at or beyond these positions arrived after the end of the meter and do not count. */
  readonly live_until?: WatermarkVector;
}

/** A usage query that is answered from raw events, because it names properties that no meter keeps. */
export interface RawGroups {
  readonly plan: PlannedQuery;
  readonly spec: RawSpec;
  /** Properties by which events are grouped. */
  readonly names: readonly string[];
  readonly needs: StateNeeds;
}

/**
 * Canonical events by cell, property values and source, from everything stored. Values are returned as raw
 * JSON, so that the statement parses each event once per property; the caller converts the few remaining
 * values to text. Distinct values cannot be added up afterwards, so their texts are made in the statement.
 */
export function rawGroups({ plan, spec, names, needs }: RawGroups): ClickHouseQuery {
  const { query } = plan;
  const filters = filtersOf(query, spec);
  const { type, field } = spec.aggregation;
  const ended = Object.entries(spec.live_until ?? {});
  const isUnique = type === 'COUNT_UNIQUE';
  const labels = names.map((_, index) => {
    const key = `{label_${index}:String}`;
    return isUnique ? `ifNull(${scalarText(key)}, '')` : `JSONExtractRaw(properties, ${key})`;
  });
  const cell = cellStart(plan.cells);
  const value = isUnique ? scalarText('{field:String}') : field === null ? '1' : NUMBER;
  return {
    sql: `
      select cell, labels, origin,
             ${isUnique ? 'count(), uniqExact(sipHash128(value))' : stateColumns(needs)}
        from (select cell, labels, origin, timestamp, position, partition, assumeNotNull(given) as value
                from (select ${cell.sql} as cell,
                             CAST([${labels.join(', ')}], 'Array(String)') as labels, ${query.group_by.includes('source') ? 'source' : "''"} as origin, timestamp, position, partition,
                             ${value} as given
                        from events_raw_v1 final
                       where tenant_id = {tenant_id:String} and environment_id = {environment_id:String}
                         and event_name = {event_name:String}
                         ${query.external_customer_ids === null ? '' : 'and external_customer_id in {customers:Array(String)}'}
                         and timestamp >= fromUnixTimestamp64Milli({start_ms:Int64}, 'UTC')
                         and timestamp < fromUnixTimestamp64Milli({end_ms:Int64}, 'UTC')
                         and is_canonical
                         ${ended.length === 0 ? '' : `and position < ${LIVE_UNTIL}`}
                         and (partition, position) not in (
                               select target_partition, target_position from usage_void_v1
                                where tenant_id = {tenant_id:String} and environment_id = {environment_id:String})
                         ${filters.sql})
               where given is not null)
       group by cell, labels, origin
       order by cell`,
    params: {
      tenant_id: query.tenant_id,
      environment_id: query.environment_id,
      event_name: spec.event_name,
      start_ms: plan.start,
      end_ms: plan.end,
      ...cell.params,
      ...Object.fromEntries(names.map((name, index) => [`label_${index}`, name])),
      ...(field === null ? {} : { field }),
      ...(ended.length === 0
        ? {}
        : {
            ended_partitions: ended.map(([partition]) => Number(partition)),
            ended_positions: ended.map(([, position]) => position),
          }),
      ...(query.external_customer_ids === null ? {} : { customers: query.external_customer_ids }),
      ...filters.params,
    },
  };
}

/**
 * The start of the cell that contains an event. Cells of equal width are computed: the borders of a month of
 * minutes would be half a megabyte to send and to search.
 */
export function cellStart(cells: readonly Cell[]): Condition {
  const at = 'toUnixTimestamp64Milli(timestamp)';
  const starts = cells.map(({ start }) => start);
  const width = regularWidth(starts);
  // Integers in the statement's text: a year of hours exceeds the server's limit for a parameter.
  if (width === null)
    return { sql: `roundDown(${at}, CAST('[${starts.join(',')}]', 'Array(Int64)'))`, params: {} };
  return {
    sql: `greatest({cells_from:Int64}, {cells_grid:Int64} + intDiv(${at} - {cells_grid:Int64}, {cell_ms:Int64}) * {cell_ms:Int64})`,
    params: { cells_from: starts[0], cells_grid: starts[1]! - width, cell_ms: width },
  };
}

/** The distance between the starts, of which the first may be cut; null if it varies. */
function regularWidth(starts: readonly number[]): number | null {
  const [first, second, third] = starts;
  if (first === undefined || second === undefined || third === undefined) return null;
  const width = third - second;
  const isRegular =
    first >= second - width &&
    starts.every((start, index) => index === 0 || start === second + (index - 1) * width);
  return isRegular ? width : null;
}

// A partition in which the meter has not ended has no bound.
const LIVE_UNTIL = `transform(partition, {ended_partitions:Array(UInt16)}, {ended_positions:Array(UInt64)},
  toUInt64(18446744073709551615))`;

/** Cheap test for the usual form of a number; the full rule is `numericValue`. */
const NUMBER = `multiIf(
  JSONExtractRaw(properties, {field:String}) as raw = '', null,
  isNotNull(toInt64OrNull(raw)), toDecimal128OrNull(raw, 18),
  match(raw, '^-?[0-9]{1,15}[.][0-9]{1,15}$'), toDecimal128OrNull(raw, 18),
  CAST(${numericValue(`(${scalarText('{field:String}')})`)}, 'Nullable(Decimal(38, 18))'))`;

/** The filters of the meter and of the query, without the usage that more specific prices charge. */
function filtersOf(query: UsageQuery, spec: RawSpec) {
  const params: Record<string, unknown> = {};
  let number = 0;
  const matches = (key: string, values: readonly string[]): string => {
    const name = `filter_${number++}`;
    // An empty text means a missing property, which no filter matches.
    const texts = values.filter((value) => value !== '');
    if (key === 'source') {
      params[name] = texts;
      return `and has({${name}:Array(String)}, toString(source))`;
    }
    const filter = propertyFilters({ [key]: texts }, name);
    Object.assign(params, filter.params);
    return filter.sql;
  };
  const all = (filter: FilterValues) =>
    Object.entries(filter)
      .map(([key, values]) => matches(key, values))
      .join('\n');
  const sql = [
    ...spec.filters.map(({ key, values }) => {
      const filter = propertyFilters({ [key]: values }, `meter_${number++}`);
      Object.assign(params, filter.params);
      return filter.sql;
    }),
    all(query.filter_values),
    ...(query.excluded_filter_values ?? []).map((filter) => `and not (true ${all(filter)})`),
    ...(query.excluded_during ?? []).map((excluded) => {
      const name = `during_${number++}`;
      const { external_customer_ids: customers } = excluded;
      params[`${name}_start`] = epochMs(excluded.start);
      params[`${name}_end`] = epochMs(excluded.end);
      if (customers !== null) params[`${name}_customers`] = customers;
      return `and not (timestamp >= fromUnixTimestamp64Milli({${name}_start:Int64}, 'UTC')
                        and timestamp < fromUnixTimestamp64Milli({${name}_end:Int64}, 'UTC')
                        ${customers === null ? '' : `and external_customer_id in {${name}_customers:Array(String)}`}
                        ${all(excluded.filter_values)})`;
    }),
  ];
  return { sql: sql.join('\n'), params };
}

export interface RawGroup extends UsagePart {
  /** Start of the cell in milliseconds. */
  readonly cell: number;
  /** For COUNT_UNIQUE. */
  readonly unique_count: number;
}

export function readRawGroup(
  reader: RowBinaryReader,
  isUnique: boolean,
  needs: StateNeeds,
): RawGroup {
  return {
    cell: reader.count(),
    dimensions: reader.strings(),
    source: reader.string(),
    state: readState(reader, needs),
    unique_count: isUnique ? reader.count() : 0,
  };
}
