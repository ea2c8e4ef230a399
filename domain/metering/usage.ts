import { AGGREGATION_TYPES, BUCKET_SIZES, RESET_USAGES } from '../../schemas/words.ts';
import type { BucketSize, UsageWindow } from '../time/usage-windows.ts';
import type { WatermarkVector } from './position.ts';

/** Metering terms that the stream, the usage store, rating and the API share. */
export { AGGREGATION_TYPES, BUCKET_SIZES, RESET_USAGES };
export type AggregationType = (typeof AGGREGATION_TYPES)[number];
export type ResetUsage = (typeof RESET_USAGES)[number];

/** What a meter counts. Immutable: an edit makes a new version. */
export interface MeterSpec {
  readonly event_name: string;
  readonly aggregation: {
    readonly type: AggregationType;
    readonly field: string | null;
    /** CEL over `properties`; used instead of `field`. */
    readonly expression: string | null;
    /** Decimal text; only with SUM_WITH_MULTIPLIER. */
    readonly multiplier: string | null;
    /** Property by which usage is aggregated separately. */
    readonly group_by: string | null;
    readonly bucket_size: BucketSize | null;
  };
  /** AND across keys; the property's text must be in `values`. */
  readonly filters: readonly { readonly key: string; readonly values: readonly string[] }[];
  readonly reset_usage: ResetUsage;
}

export interface MeterVersion {
  readonly id: string;
  readonly meter_id: string;
  readonly tenant_id: string;
  readonly environment_id: string;
  /** 1 for the first, ascending. */
  readonly version: number;
  readonly spec: MeterSpec;
  /**
   * Property names kept with each usage row: the meter's `group_by` and the filter keys of its prices.
   * Sorted.
   */
  readonly dimensions: readonly string[];
}

/** One usage question. Half-open `[start, end)`, ISO 8601 UTC. */
export interface UsageQuery {
  /** The caller's name for the question, unique within one call. */
  readonly key: string;
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly meter_version_id: string;
  readonly aggregation: AggregationType;
  readonly multiplier: string | null;
  readonly reset_usage: ResetUsage;
  /** Usage of several customers is merged before aggregation. Null means all customers of the environment. */
  readonly external_customer_ids: readonly string[] | null;
  readonly start: string;
  readonly end: string;
  /** Dimension → allowed values; AND across dimensions. */
  readonly filter_values: FilterValues;
  /**
   * Events that match any of these are excluded, because a more specific price of the same
   * subscription rates them (billing 2.5). Absent means none.
   */
  readonly excluded_filter_values?: readonly FilterValues[];
  /** Events that do not count in a part of the time. Absent means none. */
  readonly excluded_during?: readonly ExcludedDuring[];
  /** Dimensions, or `source`: one answer row for each combination of values. */
  readonly group_by: readonly string[];
  /** Aggregates each window of this grid separately. Windows without events are omitted. */
  readonly window: UsageWindow | null;
  /**
   * Aggregates each time separately: one row for each millisecond that has events, `window_start` is that time.
   * For COUNT, SUM and SUM_WITH_MULTIPLIER of named customers, without `window` and `group_by`. Absent means no.
   */
  readonly by_time?: boolean;
}

/**
 * Events of `[start, end)` that do not count: a more specific price rates those that match the filter (billing
 * 2.5), or the customers do not belong to the subscription at that time.
 */
export interface ExcludedDuring {
  readonly start: string;
  readonly end: string;
  readonly filter_values: FilterValues;
  /** Null means every customer. */
  readonly external_customer_ids: readonly string[] | null;
}

/** Dimension → allowed values. An event matches when, for every key, its property's text is in the list. */
export type FilterValues = Readonly<Record<string, readonly string[]>>;

export interface UsageRow {
  /** Values of `group_by`, in its order; the empty string when an event lacks the property. */
  readonly group: readonly string[];
  /**
   * Start of the window on its grid, before clipping to the period; the time of the events if the query is
   * `by_time`; null without a window.
   */
  readonly window_start: string | null;
  /** Exact decimal text, at most 18 decimals. */
  readonly quantity: string;
  readonly event_count: number;
}

export interface UsageAnswer {
  readonly key: string;
  /** Without group and window, exactly one row. Grouped or windowed queries without usage have no rows. */
  readonly rows: readonly UsageRow[];
}

/** Answers of one call, all read below the same vector, so that the same read can be repeated years later. */
export interface UsageAnswers {
  readonly watermarks: WatermarkVector;
  readonly answers: ReadonlyMap<string, UsageAnswer>;
}

/**
 * The port through which billing and the API read usage. One grouped statement serves many
 * questions. Throws `usage_unavailable` (kind `unavailable`) when the store cannot answer completely;
 * never returns a partial number.
 */
export interface UsageReader {
  read(
    queries: readonly UsageQuery[],
    /**
     * `at`: reads again below an older vector (audits, finalized invoices). `fresh`: dashboards, reads all
     * stored rows.
     */
    bound?: { readonly at: WatermarkVector } | 'watermark' | 'fresh',
    /** Aborted when nobody waits for the answers any more: the read rejects. */
    signal?: AbortSignal,
  ): Promise<UsageAnswers>;
}
