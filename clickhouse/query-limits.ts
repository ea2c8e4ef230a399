/**
 * What one statement may take (tenancy S13). Every statement has all of them: the client adds those
 * of `SERVICE` to one that says nothing else. A statement that reaches a limit fails whole; none ever
 * answers a part.
 */
export interface QueryLimits {
  readonly name: 'service' | 'reading' | 'analytics';
  readonly seconds: number;
  readonly rowsRead: number;
  readonly memoryBytes: number;
  readonly resultRows: number;
  readonly resultBytes: number;
  /** Null: as many as the server likes. */
  readonly threads: number | null;
  /** Groups that a statement may make; left out: as many as fit into its memory. */
  readonly groups?: number;
}

/** The stream, the sealer, backfills, migrations: work that must come to its end. */
export const SERVICE: QueryLimits = {
  name: 'service',
  seconds: 600,
  rowsRead: 20_000_000_000,
  memoryBytes: 8_000_000_000,
  resultRows: 20_000_000,
  resultBytes: 2_000_000_000,
  threads: null,
};

/** Usage of named customers, for invoices and for people, and single events. */
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
 * A few keys of a table: single events, single customers. Understanding and starting such a statement is
 * most of what it takes, and each thread that it hands something to waits for a processor on its own
 * where others use them all.
 */
export const LOOK_UP: QueryLimits = { ...READING, threads: 1 };

/**
 * Everything that one tenant's question can make wide: whole environments, properties of raw events. The
 * answer is small enough to be taken apart without holding up the process for other callers.
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

/** Nothing that is prepared for much to do, where one thread does it all. */
const SINGLE_THREAD = {
  max_threads: 1,
  max_threads_for_indexes: 1,
  output_format_parallel_formatting: 0,
  compile_expressions: 0,
  use_query_condition_cache: 0,
};

/** Analytics leave the processor to whoever asks something small, where the system lets a server say so. */
const ANALYTICS_NICE = 10;

/** `log_comment` names the class: the embedded server keeps sessions apart by it, others log it. */
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
    ...(limits.name === 'analytics' ? { os_thread_priority: ANALYTICS_NICE } : {}),
  };
}

function threadSettings(threads: number | null): Record<string, number> {
  if (threads === null) return {};
  return threads === 1
    ? SINGLE_THREAD
    : { max_threads: threads, output_format_parallel_formatting: 0 };
}
