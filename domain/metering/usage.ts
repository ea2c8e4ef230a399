import { AGGREGATION_TYPES, BUCKET_SIZES, RESET_USAGES } from '../../schemas/words.ts';
import type { BucketSize, UsageWindow } from '../time/usage-windows.ts';
import type { WatermarkVector } from './position.ts';

/** The words of metering that the stream, the usage store, rating and the API share. */
export { AGGREGATION_TYPES, BUCKET_SIZES, RESET_USAGES };
export type AggregationType = (typeof AGGREGATION_TYPES)[number];
export type ResetUsage = (typeof RESET_USAGES)[number];

/** What a meter counts. Immutable: an edit makes a new version. */
export interface MeterSpec {
  readonly event_name: string;
  readonly aggregation: {
    readonly type: AggregationType;
    readonly field: string | null;
    /** CEL over `properties`; instead of `field`. */
    readonly expression: string | null;
    /** Decimal text, with SUM_WITH_MULTIPLIER only. */
    readonly multiplier: string | null;
    /** Property whose values are aggregated apart. */
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
  /** Property names kept with each usage row: the meter's `group_by` and what its prices filter on. Sorted. */
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
  /** Usage of several customers is merged before it is aggregated. Null: every customer of the environment. */
  readonly external_customer_ids: readonly string[] | null;
  readonly start: string;
  readonly end: string;
  /** Dimension → allowed values; AND across dimensions. */
  readonly filter_values: FilterValues;
  /**
   * Events that match any of these are left out, because a more specific price of the same
   * subscription rates them (billing 2.5). Absent = none.
   */
  readonly excluded_filter_values?: readonly FilterValues[];
  /** Dimensions, or `source`: one answer row for each combination of values. */
  readonly group_by: readonly string[];
  /** Aggregate each window of this grid apart. Windows without events are left out. */
  readonly window: UsageWindow | null;
}

/** Dimension → allowed values. An event matches when, for every key, its property's text is in the list. */
export type FilterValues = Readonly<Record<string, readonly string[]>>;

export interface UsageRow {
  /** Values of `group_by`, in its order; the empty string where an event lacks the property. */
  readonly group: readonly string[];
  /** Start of the window on its grid, before clipping to the period; null without a window. */
  readonly window_start: string | null;
  /** Exact decimal text, at most 18 decimals. */
  readonly quantity: string;
  readonly event_count: number;
}

export interface UsageAnswer {
  readonly key: string;
  /** One row without group and window; none at all only where rows are grouped or windowed and empty. */
  readonly rows: readonly UsageRow[];
}

/** Answers of one call, all read below the same vector, so that they can be read again years later. */
export interface UsageAnswers {
  readonly watermarks: WatermarkVector;
  readonly answers: ReadonlyMap<string, UsageAnswer>;
}

/**
 * The port through which billing and the API read usage. One grouped statement serves many
 * questions. Throws `usage_unavailable` (kind `unavailable`) when the store can not answer whole;
 * never a partial number.
 */
export interface UsageReader {
  read(
    queries: readonly UsageQuery[],
    /** `at`: read again below an older vector (audits, finalized invoices). `fresh`: dashboards, everything stored. */
    bound?: { readonly at: WatermarkVector } | 'watermark' | 'fresh',
  ): Promise<UsageAnswers>;
}
