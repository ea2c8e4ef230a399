import { usageQueryTooLarge } from '../../clickhouse/reading/usage-errors.ts';
import { invalidField } from '../../domain/errors.ts';
import type { Period } from '../../domain/time/instant.ts';
import { isoTime, type Clock } from '../../platform/clock.ts';
import type { BUCKET_SIZES } from '../../schemas/words.ts';

const DAY_MS = 86_400_000;
const DEFAULT_RANGE_MS = 7 * DAY_MS;
/** Ten years. */
const RANGE_DAYS_MAX = 3_660;
/** A month of minutes is 44,640. */
const WINDOWS_MAX = 50_000;

type WindowSize = (typeof BUCKET_SIZES)[number];

/** Minimum length of a window, for an upper bound of their number. */
const MINUTES: Readonly<Record<WindowSize, number>> = {
  MINUTE: 1, '15MIN': 15, '30MIN': 30, HOUR: 60, '3HOUR': 180, '6HOUR': 360, '12HOUR': 720,
  DAY: 1_380, WEEK: 10_020, MONTH: 40_000,
}; // prettier-ignore

/**
 * `[start_time, end_time)`: by default the seven days before now, or before the given end. 400
 * `usage_query_too_large` for more than ten years, or more than 50,000 windows (tenancy S13).
 */
export function rangeOf(
  clock: Clock,
  body: {
    readonly start_time?: string | null;
    readonly end_time?: string | null;
    readonly window_size?: WindowSize | null;
    readonly bucket_size?: WindowSize | null;
  },
): Period {
  const end = body.end_time ?? isoTime(clock.now());
  const start = body.start_time ?? isoTime(Date.parse(end) - DEFAULT_RANGE_MS);
  if (end <= start) throw invalidField('end_time', 'must be after start_time');
  const lengthMs = lengthOf({ start, end });
  for (const size of [body.window_size, body.bucket_size]) {
    if (size != null && lengthMs / (MINUTES[size] * 60_000) > WINDOWS_MAX)
      throw usageQueryTooLarge(
        `The range has more than ${WINDOWS_MAX} windows of ${size}. Query a shorter one, or use larger windows.`,
      );
  }
  return { start, end };
}

/** 400 `usage_query_too_large` for more than ten years, unless it is the running period of the subscription. */
export function refuseLongRange(
  { current_period_start, current_period_end }: RunningPeriod,
  range: Period,
): void {
  if (range.start !== current_period_start || range.end !== current_period_end) lengthOf(range);
}

interface RunningPeriod {
  readonly current_period_start: string;
  readonly current_period_end: string;
}

/** Milliseconds. 400 `usage_query_too_large` for more than ten years. */
function lengthOf({ start, end }: Period): number {
  const lengthMs = Date.parse(end) - Date.parse(start);
  if (lengthMs > RANGE_DAYS_MAX * DAY_MS)
    throw usageQueryTooLarge(
      `The range is longer than ${RANGE_DAYS_MAX} days. Query a shorter one.`,
    );
  return lengthMs;
}
