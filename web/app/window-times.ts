import { windowsWithin, type BucketSize } from '../../domain/time/usage-windows.ts';
import type { UsageAnalyticsItem } from '../../schemas/usage-analytics.ts';
import type { Range } from './range.ts';

/** The windows that usage was asked for. */
export interface AskedWindows extends Range {
  readonly window_size: BucketSize;
  readonly timezone: string;
}

interface Counted {
  readonly points: readonly { readonly timestamp: string }[] | null;
  readonly windows_of_points: UsageAnalyticsItem['windows_of_points'];
}

/** Starts of windows, oldest first, and which of them are windows of an item. */
export interface WindowTimes {
  readonly times: readonly string[];
  /** A window of the item that its points do not have is without usage; another time is no window of it. */
  readonly isOf: (item: Counted, time: string) => boolean;
}

/**
 * The windows of the items. Usage of a price with buckets lies on windows of its own, in the zone of the customer, if
 * those that were asked for are not longer. Windows that begin after `now` are left out, unless there is usage in them
 * or later.
 */
export function windowTimes(
  items: readonly Counted[],
  { start_time, end_time, window_size, timezone }: AskedWindows,
  now: string,
): WindowTimes {
  const period = { start: start_time, end: end_time };
  const asked = { window_size, timezone, billing_anchor: null };
  const grids = new Map<string, ReadonlySet<string>>();
  const gridOf = (windows: Counted['windows_of_points']): ReadonlySet<string> => {
    const { window_size: bucket_size, ...calendar } = windows ?? asked;
    const key = JSON.stringify([bucket_size, calendar.timezone, calendar.billing_anchor]);
    if (!grids.has(key)) {
      const cells = windowsWithin({ bucket_size, ...calendar }, period);
      grids.set(key, new Set(cells.map(({ window_start }) => window_start)));
    }
    return grids.get(key)!;
  };
  if (items.length === 0) gridOf(null);
  const byItem = new Map(items.map((item) => [item, gridOf(item.windows_of_points)]));
  const answered = items.flatMap(({ points }) => (points ?? []).map(({ timestamp }) => timestamp));
  const latest = answered.reduce((last, time) => (time > last ? time : last), now);
  const starts = [...grids.values()].flatMap((grid) => [...grid]);
  return {
    // A pause makes months longer: usage may lie on windows that no grid has.
    times: [...new Set([...starts, ...answered])].filter((start) => start <= latest).sort(),
    isOf: (item, time) => byItem.get(item)?.has(time) === true,
  };
}
