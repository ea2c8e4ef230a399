/**
 * Limits of one statement (tenancy S13). Every statement has all of them: the client uses `SERVICE` by
 * default. A statement that reaches a limit fails; results are never partial.
 */
export interface QueryLimits {
  readonly name: 'service' | 'reading' | 'analytics';
  readonly seconds: number;
  readonly rowsRead: number;
  readonly memoryBytes: number;
  readonly resultRows: number;
  readonly resultBytes: number;
  /** Null: the server's default. */
  readonly threads: number | null;
  /** The statement takes milliseconds, so preparations for long or parallel work cost more than they save. */
  readonly isShort?: true;
  /** Groups that a statement may create; default: as many as fit into its memory. */
  readonly groups?: number;
}

/** The stream, the sealer, backfills, migrations: work that must complete. */
export const SERVICE: QueryLimits = {
  name: 'service',
  seconds: 600,
  rowsRead: 20_000_000_000,
  memoryBytes: 8_000_000_000,
  resultRows: 20_000_000,
  resultBytes: 2_000_000_000,
  threads: null,
};

/** Usage of named customers, for invoices and for users, and single events. */
export const READING: QueryLimits = {
  name: 'reading',
  seconds: 30,
  rowsRead: 2_000_000_000,
  memoryBytes: 4_000_000_000,
  resultRows: 5_000_000,
  resultBytes: 500_000_000,
  threads: null,
};

/**
 * A few keys of a table: single events, single customers. Parsing and starting take most of the time of these
 * statements, and each further thread would wait for a processor while other statements use them all.
 */
export const LOOK_UP: QueryLimits = { ...READING, threads: 1, isShort: true };

/**
 * Queries of a tenant that can be wide: whole environments, properties of raw events. The result is small
 * enough to be decoded without blocking the process for other callers.
 */
export const ANALYTICS: QueryLimits = {
  name: 'analytics',
  seconds: 10,
  rowsRead: 1_000_000_000,
  memoryBytes: 2_000_000_000,
  resultRows: 250_000,
  resultBytes: 50_000_000,
  threads: 2,
};

/** Turns off preparations for long or parallel work. */
const SHORT = {
  max_threads_for_indexes: 1,
  compile_expressions: 0,
  use_query_condition_cache: 0,
};

/** Analytics yield the processor to small queries, where the operating system allows a server to set this. */
const ANALYTICS_NICE = 10;

/** `log_comment` names the class: the embedded server selects sessions by it; other servers log it. */
export const CLASS_SETTING = 'log_comment';

export function limitSettings(limits: QueryLimits): Record<string, string | number> {
  return {
    [CLASS_SETTING]: limits.name,
    max_execution_time: limits.seconds,
    timeout_overflow_mode: 'throw',
    max_rows_to_read: String(limits.rowsRead),
    read_overflow_mode: 'throw',
    max_memory_usage: String(limits.memoryBytes),
    max_result_rows: String(limits.resultRows),
    max_result_bytes: String(limits.resultBytes),
    result_overflow_mode: 'throw',
    ...(limits.groups === undefined
      ? {}
      : { max_rows_to_group_by: String(limits.groups), group_by_overflow_mode: 'throw' }),
    ...threadSettings(limits.threads),
    ...(limits.isShort === true ? SHORT : {}),
    ...(limits.name === 'analytics' ? { os_thread_priority: ANALYTICS_NICE } : {}),
  };
}

const threadSettings = (threads: number | null): Record<string, number> =>
  threads === null ? {} : { max_threads: threads, output_format_parallel_formatting: 0 };
