import { windowsWithin, type BucketSize } from '../../domain/time/usage-windows.ts';
import type { Range } from './range.ts';

/** The windows that usage was asked for. */
export interface AskedWindows extends Range {
  readonly window_size: BucketSize;
  readonly timezone: string;
}

interface Counted {
  readonly points: readonly { readonly timestamp: string }[] | null;
}

/**
 * Starts of the windows of the question, oldest first: a window that is missing in the answer has no usage. Windows
 * that begin after `now` are left out, unless there is usage in them or later. Usage of a price with buckets may lie
 * on windows of its own, in the zone of the customer; then only the windows of the answer are known.
 */
export function windowTimes(
  items: readonly Counted[],
  { start_time, end_time, window_size, timezone }: AskedWindows,
  now: string,
): string[] {
  const answered = new Set(
    items.flatMap(({ points }) => (points ?? []).map(({ timestamp }) => timestamp)),
  );
  const starts = windowsWithin(
    { bucket_size: window_size, timezone, billing_anchor: null },
    { start: start_time, end: end_time },
  ).map(({ window_start }) => window_start);
  const known = new Set(starts);
  const inOrder = [...answered].sort();
  if (!inOrder.every((time) => known.has(time))) return inOrder;
  const latest = inOrder.at(-1) ?? '';
  return starts.filter((start) => start <= now || start <= latest);
}
