import { Decimal as Decimal40, decimalText } from '../../../domain/money.ts';
import type { WatermarkVector } from '../../../domain/metering/position.ts';
import type { FilterValues, UsageQuery, UsageRow } from '../../../domain/metering/usage.ts';
import { windowsWithin } from '../../../domain/time/usage-windows.ts';

// More digits than any sum or product here has: nothing is rounded but the result.
const Decimal = Decimal40.clone({ precision: 120 });
type Decimal = Decimal40;
const ZERO = new Decimal(0);

/** An event as one meter version counts it, before it is stored. */
export interface CountedEvent {
  readonly external_customer_id: string;
  readonly meter_version_id: string;
  readonly timestamp: number;
  readonly partition: number;
  readonly position: bigint;
  readonly value: string;
  readonly unique_value: string;
  /** Properties that the version has as dimensions; missing ones are missing. */
  readonly properties: Readonly<Record<string, string>>;
  readonly source: string;
  /** Where a correction took it back, if one did. */
  readonly voided_at: bigint | null;
}

const below = (vector: WatermarkVector, partition: number, position: bigint): boolean =>
  position < (vector[partition] ?? 0n);

/** The answer to a question, counted one event after the other from the rules of metering 6 alone. */
export function recount(
  events: readonly CountedEvent[],
  query: UsageQuery,
  vector: WatermarkVector,
): UsageRow[] {
  const start = Date.parse(query.start);
  const end = Date.parse(query.end);
  const isLifetime = query.reset_usage === 'NEVER' && query.window === null;
  const counted = events.filter(
    (event) =>
      event.meter_version_id === query.meter_version_id &&
      (query.external_customer_ids === null ||
        query.external_customer_ids.includes(event.external_customer_id)) &&
      event.timestamp < end &&
      (isLifetime || event.timestamp >= start) &&
      below(vector, event.partition, event.position) &&
      !(event.voided_at !== null && below(vector, event.partition, event.voided_at)) &&
      matches(event, query.filter_values) &&
      !(query.excluded_filter_values ?? []).some((filter) => matches(event, filter)),
  );
  const cells =
    query.window === null
      ? [{ start: query.start, end: query.end, window_start: null }]
      : windowsWithin(query.window, query);
  const groups = new Map(
    counted.map((event) => [JSON.stringify(groupOf(event, query)), groupOf(event, query)]),
  );
  if (query.group_by.length === 0) groups.set('[]', []);
  const rows: UsageRow[] = [];
  for (const cell of start < end ? cells : []) {
    const from = Date.parse(cell.start);
    const to = Date.parse(cell.end);
    for (const [key, group] of groups) {
      const own = counted.filter(
        (event) =>
          JSON.stringify(groupOf(event, query)) === key &&
          event.timestamp < to &&
          (isLifetime || event.timestamp >= from),
      );
      if (own.length === 0) continue;
      const inPeriod = own.filter((event) => event.timestamp >= from);
      rows.push({
        group,
        window_start: cell.window_start,
        quantity: decimalText(aggregate(query, own, from, to)),
        event_count: query.aggregation === 'WEIGHTED_SUM' ? inPeriod.length : own.length,
      });
    }
  }
  if (rows.length === 0 && query.window === null && query.group_by.length === 0)
    rows.push({ group: [], window_start: null, quantity: '0', event_count: 0 });
  return rows;
}

function aggregate(
  query: UsageQuery,
  events: readonly CountedEvent[],
  from: number,
  to: number,
): Decimal {
  const values = events.map((event) => new Decimal(event.value));
  const sum = values.reduce((total, value) => total.plus(value), ZERO);
  switch (query.aggregation) {
    case 'COUNT':
      return new Decimal(events.length);
    case 'COUNT_UNIQUE':
      return new Decimal(new Set(events.map((event) => event.unique_value)).size);
    case 'SUM':
      return sum;
    case 'SUM_WITH_MULTIPLIER':
      return sum.times(query.multiplier ?? '1').toDecimalPlaces(18, Decimal.ROUND_HALF_UP);
    case 'AVG':
      return sum.dividedBy(events.length).toDecimalPlaces(18, Decimal.ROUND_HALF_UP);
    case 'MAX':
      return Decimal.max(...values);
    case 'MIN':
      return Decimal.min(...values);
    case 'LATEST':
      return new Decimal(
        [...events].sort(
          (a, b) =>
            b.timestamp - a.timestamp ||
            Number(b.position > a.position) - Number(b.position < a.position) ||
            b.partition - a.partition,
        )[0]!.value,
      );
    case 'WEIGHTED_SUM': {
      // Before the period's start a value has its whole weight.
      const weighted = events.reduce(
        (total, event) =>
          total.plus(new Decimal(event.value).times(to - Math.max(event.timestamp, from))),
        ZERO,
      );
      return weighted.dividedBy(to - from).toDecimalPlaces(18, Decimal.ROUND_HALF_UP);
    }
  }
}

function matches(event: CountedEvent, filter: FilterValues): boolean {
  return Object.entries(filter).every(
    ([name, values]) =>
      event.properties[name] !== undefined && values.includes(event.properties[name]),
  );
}

function groupOf(event: CountedEvent, query: UsageQuery): string[] {
  return query.group_by.map((name) =>
    name === 'source' ? event.source : (event.properties[name] ?? ''),
  );
}
