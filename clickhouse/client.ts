import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ClickHouseLogLevel, createClient, type ClickHouseSettings } from '@clickhouse/client';
import { formOfLongParams } from './long-params.ts';
import { limitSettings, SERVICE, type QueryLimits } from './query-limits.ts';

/** A statement as a value. All external input is in `params`, typed in the text. */
export interface ClickHouseQuery {
  readonly sql: string;
  /** Values of the `{name:Type}` placeholders. */
  readonly params: Readonly<Record<string, unknown>>;
}

export interface ReadOptions {
  /** Default: the limits of the product's own work. */
  readonly limits?: QueryLimits;
  /**
   * Time after which the call throws, even if the server does not respond. Default: the time of the limits plus one
   * second.
   */
  readonly timeoutMs?: number;
  /** Aborted when nobody waits for the result any more: the call throws, as during an outage. */
  readonly signal?: AbortSignal | undefined;
}

export interface ClickHouse {
  /** Rows as arrays in the order of the columns; 64-bit integers and decimals are text. */
  rows<Row extends readonly unknown[]>(
    query: ClickHouseQuery,
    options?: ReadOptions,
  ): Promise<Row[]>;
  /** The result as bytes of a binary format. */
  bytes(query: ClickHouseQuery, format: 'RowBinary', options?: ReadOptions): Promise<Buffer>;
  /** A statement without a result. */
  command(query: ClickHouseQuery, options?: ReadOptions): Promise<void>;
  /**
   * Lines of JSONCompactEachRow, with the columns in the given order. Resolves when the rows, and the rows
   * written by views, are visible.
   */
  insert(
    table: string,
    columns: readonly string[],
    lines: string | Buffer | readonly Buffer[],
  ): Promise<void>;
  /** Whether the server answers within a second. */
  ping(): Promise<boolean>;
  close(): Promise<void>;
}

export interface ClickHouseOptions {
  /** `http://user:password@host:port/database` */
  readonly url: string;
  readonly applicationName: string;
  readonly maxConnections?: number;
  /** Factor on every time limit, for a machine that is many times slower. Default 1. */
  readonly patience?: number;
}

/**
 * How long the product's own work waits for one result. Its statements are bounded, so one that takes longer
 * is lost.
 */
const READ_TIMEOUT_MS = 30_000;
const WRITE_TIMEOUT_MS = 120_000;
const REQUEST_TIMEOUT_MS = 4 * 3_600_000;

/**
 * Every setting that correctness depends on, set explicitly. Engine defaults change: in 26.7 inserts are
 * asynchronous and deduplicated unless a client sets otherwise. `wait_end_of_query` makes the server answer
 * when it knows the outcome, so that an error never follows half of a result.
 */
const SETTINGS: ClickHouseSettings & Record<`deduplicate_insert${string}`, string> = {
  async_insert: 0,
  // In 26.7 the first setting alone has no effect: the other two override it, and they are on by default.
  insert_deduplicate: 0,
  deduplicate_insert: 'disable',
  deduplicate_insert_select: 'disable',
  deduplicate_blocks_in_dependent_materialized_views: 0,
  materialized_views_ignore_errors: 0,
  max_partitions_per_insert_block: '0',
  do_not_merge_across_partitions_select_final: 1,
  wait_end_of_query: 1,
  max_query_size: String(64 * 1024 * 1024),
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  output_format_decimal_trailing_zeros: 0,
};

/**
 * The only ClickHouse client of the product, for the embedded server and a separate one. Errors of the server
 * are the driver's `ClickHouseError` with its `code`; a lost connection is a driver error too.
 */
export function connectClickHouse(options: ClickHouseOptions): ClickHouse {
  const client = createClient({
    url: options.url,
    application: options.applicationName,
    max_open_connections: options.maxConnections ?? 16,
    // Each call has its own signal; the driver's limit is longer than all of them.
    request_timeout: REQUEST_TIMEOUT_MS,
    clickhouse_settings: SETTINGS,
    use_multipart_params_auto: true,
    keep_alive: { enabled: true, idle_socket_ttl: 2_000 },
    log: { level: ClickHouseLogLevel.OFF },
  });
  const { patience = 1 } = options;
  const call = (query: ClickHouseQuery, given: ReadOptions = {}, timeoutMs = READ_TIMEOUT_MS) => {
    given.signal?.throwIfAborted(); // the driver ignores a signal that is aborted already
    const limits = given.limits ?? SERVICE;
    const waitMs =
      given.timeoutMs ?? (given.limits === undefined ? timeoutMs : limits.seconds * 1000 + 1_000);
    const timeout = AbortSignal.timeout(waitMs * patience);
    return {
      query: query.sql,
      query_params: query.params,
      clickhouse_settings: limitSettings({ ...limits, seconds: limits.seconds * patience }),
      abort_signal: given.signal === undefined ? timeout : AbortSignal.any([timeout, given.signal]),
    };
  };
  type Call = ReturnType<typeof call>;
  /** Runs a statement; long parameters go in the body, and the statement then goes in the address. */
  const exec = (called: Call) => {
    const form = formOfLongParams(called.query_params);
    if (form === null) return client.exec(called);
    const { query_params: _, ...rest } = called;
    return client.exec({
      ...rest,
      http_headers: { 'Content-Type': form.contentType },
      values: Readable.from([form.body], { objectMode: false }),
    });
  };
  return {
    async rows<Row extends readonly unknown[]>(query: ClickHouseQuery, given?: ReadOptions) {
      const result = await client.query({ ...call(query, given), format: 'JSONCompactEachRow' });
      const text = await result.text();
      // Line breaks inside values are escaped, so the remaining ones separate rows.
      return JSON.parse(`[${text.trimEnd().replaceAll('\n', ',')}]`) as Row[];
    },
    async bytes(query, format, given) {
      const sql = `${query.sql}\nformat ${format}`;
      const { stream } = await exec(call({ ...query, sql }, given));
      const chunks: Buffer[] = [];
      for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
      return Buffer.concat(chunks);
    },
    async command(query, given) {
      const { stream } = await exec(call(query, given, WRITE_TIMEOUT_MS));
      await finished(stream.resume());
    },
    async insert(table, columns, lines) {
      const chunks =
        typeof lines === 'string' ? [Buffer.from(lines)] : Buffer.isBuffer(lines) ? [lines] : lines;
      const sql = `insert into ${table} (${columns.join(', ')}) format JSONCompactEachRow`;
      // A stream of chunks is sent as it is; the driver would encode rows one by one.
      const { stream } = await client.exec({
        ...call({ sql, params: {} }, undefined, WRITE_TIMEOUT_MS),
        values: Readable.from(chunks, { objectMode: false }),
      });
      await finished(stream.resume());
    },
    async ping() {
      const abort_signal = AbortSignal.timeout(1_000 * patience);
      return (await client.ping({ select: false, abort_signal })).success;
    },
    close: () => client.close(),
  };
}
