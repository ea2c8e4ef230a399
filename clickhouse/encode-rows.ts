import type {
  EventIndexRow,
  MeterUsageRow,
  RawEventRow,
  RejectedRow,
  UsageVoidRow,
} from './rows.ts';

/**
 * Rows as lines of JSONCompactEachRow, built by concatenation: three to five times as fast as
 * encoding objects, and an insert is sent as one piece. Times go as whole milliseconds, which a
 * DateTime64(3) takes as they are; hashes as hex.
 */
export interface RowLines<Row> {
  readonly table: string;
  readonly columns: readonly string[];
  line(row: Row): string;
}

export const RAW_EVENT_LINES: RowLines<RawEventRow> = {
  table: 'events_raw_v1',
  columns: [
    'tenant_id', 'environment_id', 'event_name', 'external_customer_id', 'customer_id', 'timestamp',
    'event_id', 'source', 'properties', 'ingested_at', 'partition', 'position', 'is_canonical',
  ], // prettier-ignore
  line: (row) =>
    `[${text(row.tenant_id)},${text(row.environment_id)},${text(row.event_name)},` +
    `${text(row.external_customer_id)},${text(row.customer_id)},${row.timestamp},` +
    `${text(row.event_id)},${text(row.source)},${text(row.properties)},${row.ingested_at},` +
    `${row.partition},${row.position},${row.is_canonical ? 1 : 0}]\n`,
};

export const EVENT_INDEX_LINES: RowLines<EventIndexRow> = {
  table: 'event_index_v1',
  columns: ['slot', 'position'],
  line: (row) => `["${row.slot}",${row.position}]\n`,
};

export const METER_USAGE_LINES: RowLines<MeterUsageRow> = {
  table: 'meter_usage_v1',
  columns: [
    'tenant_id', 'environment_id', 'external_customer_id', 'meter_version_id', 'timestamp',
    'partition', 'position', 'value', 'unique_hash', 'dimensions', 'source',
  ], // prettier-ignore
  line: (row) =>
    `[${text(row.tenant_id)},${text(row.environment_id)},${text(row.external_customer_id)},` +
    `${text(row.meter_version_id)},${row.timestamp},${row.partition},${row.position},` +
    `"${row.value}","${row.unique_hash}",[${row.dimensions.map(text).join(',')}],${text(row.source)}]\n`,
};

export const USAGE_VOID_LINES: RowLines<UsageVoidRow> = {
  table: 'usage_void_v1',
  columns: [
    'tenant_id', 'environment_id', 'target_partition', 'target_position', 'partition', 'position',
    'meter_version_id', 'external_customer_id', 'timestamp', 'event_id',
  ], // prettier-ignore
  line: (row) =>
    `[${text(row.tenant_id)},${text(row.environment_id)},${row.target_partition},` +
    `${row.target_position},${row.partition},${row.position},${text(row.meter_version_id)},` +
    `${text(row.external_customer_id)},${row.timestamp},${text(row.event_id)}]\n`,
};

export const REJECTED_LINES: RowLines<RejectedRow> = {
  table: 'events_rejected_v1',
  columns: [
    'tenant_id', 'environment_id', 'event_id', 'event_name', 'external_customer_id',
    'meter_version_id', 'partition', 'position', 'ingested_at', 'reason', 'message', 'raw',
  ], // prettier-ignore
  line: (row) =>
    `[${text(row.tenant_id)},${text(row.environment_id)},${text(row.event_id)},` +
    `${text(row.event_name)},${text(row.external_customer_id)},${text(row.meter_version_id)},` +
    `${row.partition},${row.position},${row.ingested_at},${text(row.reason)},` +
    `${text(row.message)},${text(row.raw)}]\n`,
};

export function encodeRows<Row>(lines: RowLines<Row>, rows: readonly Row[]): string {
  let encoded = '';
  for (const row of rows) encoded += lines.line(row);
  return encoded;
}

/** Half of a surrogate pair has no UTF-8, and must not make a whole insert unreadable. */
function text(value: string): string {
  const quoted = JSON.stringify(value);
  return quoted.includes('\\ud')
    ? JSON.stringify(value.replace(/\p{Surrogate}/gu, '\ufffd'))
    : quoted;
}
