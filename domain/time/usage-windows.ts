import type { BUCKET_SIZES } from '../../schemas/words.ts';
import { billingGrid } from './billing-grid.ts';
import {
  DAY_MS,
  startOfDay,
  startOfMonth,
  monthNumber,
  startOfWeek,
  type LocalMs,
} from './civil.ts';
import { epochMs, isoText, type Instant, type Period } from './instant.ts';
import { zoneOf, type Zone } from './zone.ts';

export type BucketSize = (typeof BUCKET_SIZES)[number];

/** A grid of windows: their size, their calendar, and where months begin. */
export interface UsageWindow {
  readonly bucket_size: BucketSize;
  readonly timezone: string;
  /** Where MONTH windows begin; null means the first of the month. */
  readonly billing_anchor: string | null;
  /** MONTH windows of a period that pauses made longer, without gaps (billing 12.4); null or absent for none. */
  readonly longer_months?: readonly Period[] | null;
}

/** One window of a usage grid inside a range. */
export interface WindowCell extends Period {
  /** The start of the uncut window on its grid: its identity, even when the range cuts it. */
  readonly window_start: Instant;
  /** The end of the uncut window. */
  readonly window_end: Instant;
}

/**
 * A grid of windows without gaps (billing 2.4), in milliseconds. Windows up to an hour follow
 * the local clock, so a day of 23 or 25 hours has as many hourly windows. Windows of 3, 6 and 12 hours,
 * days and weeks begin at fixed local times, so on such a day one of them is shorter or longer. MONTH
 * follows the boundary function from the billing anchor, or the first of the month; in a period that pauses made
 * longer its windows are given.
 */
export interface WindowGrid {
  /** The window that contains an instant. */
  cellAt(ms: number): { readonly start: number; readonly end: number };
}

export function windowGrid(window: UsageWindow): WindowGrid {
  const { bucket_size, timezone, billing_anchor } = window;
  const zone = zoneOf(timezone);
  const hours = HOURS.get(bucket_size);
  if (hours !== undefined) return wallGrid(zone, hours * HOUR_MS, startOfDay);
  const minutes = MINUTES.get(bucket_size);
  if (minutes !== undefined) return clockGrid(zone, minutes * MINUTE_MS);
  if (bucket_size === 'WEEK') return wallGrid(zone, 7 * DAY_MS, startOfWeek);
  return aroundLonger(monthGrid(zone, billing_anchor), window.longer_months ?? []);
}

/** The grid, with windows of their own in a part of the time. */
function aroundLonger(grid: WindowGrid, months: readonly Period[]): WindowGrid {
  if (months.length === 0) return grid;
  const own = months.map(({ start, end }) => ({ start: epochMs(start), end: epochMs(end) }));
  const [from, until] = [own[0]!.start, own.at(-1)!.end];
  return {
    cellAt(ms) {
      const longer = own.find(({ start, end }) => start <= ms && ms < end);
      if (longer !== undefined) return longer;
      const { start, end } = grid.cellAt(ms);
      return ms < from
        ? { start, end: Math.min(end, from) }
        : { start: Math.max(start, until), end };
    },
  };
}

/** One window of a usage grid inside a range, in milliseconds. */
export interface WindowSpan {
  /** Cut to the range. */
  readonly start: number;
  readonly end: number;
  /** The uncut window on its grid. */
  readonly window_start: number;
  readonly window_end: number;
}

/**
 * The windows that overlap `[from, until)`, oldest first. A month has 44,640 windows of a minute, so they
 * are numbers: texts would take ten times as long.
 */
export function windowSpans(window: UsageWindow, from: number, until: number): WindowSpan[] {
  const grid = windowGrid(window);
  const spans: WindowSpan[] = [];
  for (let at = from; at < until;) {
    const { start: window_start, end: window_end } = grid.cellAt(at);
    const start = Math.max(window_start, from);
    const end = Math.min(window_end, until);
    spans.push({ start, end, window_start, window_end });
    at = window_end;
  }
  return spans;
}

/**
 * The windows that overlap a period, oldest first, each with its identity and cut to the period. Empty
 * for an empty period.
 */
export function windowsWithin(window: UsageWindow, period: Period): WindowCell[] {
  const from = epochMs(period.start);
  const until = epochMs(period.end);
  return windowSpans(window, from, until).map((span) => {
    const window_start = isoText(span.window_start);
    const window_end = isoText(span.window_end);
    return {
      window_start,
      window_end,
      start: span.window_start < from ? period.start : window_start,
      end: span.window_end > until ? period.end : window_end,
    };
  });
}

/** The start of the window that contains an instant. */
export function windowStart(window: UsageWindow, at: Instant): Instant {
  return isoText(windowGrid(window).cellAt(epochMs(at)).start);
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

const MINUTES: ReadonlyMap<BucketSize, number> = new Map([
  ['MINUTE', 1],
  ['15MIN', 15],
  ['30MIN', 30],
  ['HOUR', 60],
]);
const HOURS: ReadonlyMap<BucketSize, number> = new Map([
  ['3HOUR', 3],
  ['6HOUR', 6],
  ['12HOUR', 12],
  ['DAY', 24],
]);

/**
 * Windows of at most an hour: the wall clock rounded down. A clock change inside a window (half an hour
 * on Lord Howe) ends the window.
 */
function clockGrid(zone: Zone, size: number): WindowGrid {
  return {
    cellAt(ms) {
      const offset = zone.offsetAt(ms);
      const full = Math.floor((ms + offset) / size) * size - offset;
      const end = full + size;
      return {
        start: zone.changeWithin(full, ms) ?? full,
        end: zone.offsetAt(end - 1) === offset ? end : zone.changeWithin(ms, end - 1)!,
      };
    },
  };
}

/** Windows that begin at fixed local times, `size` apart, counted from the time that `origin` returns. */
function wallGrid(zone: Zone, size: number, origin: (local: LocalMs) => LocalMs): WindowGrid {
  return {
    cellAt(ms) {
      const local = zone.toLocal(ms);
      const first = origin(local);
      return around(ms, Math.floor((local - first) / size), (k) =>
        zone.toInstant(first + k * size),
      );
    },
  };
}

function monthGrid(zone: Zone, anchor: Instant | null): WindowGrid {
  if (anchor === null) {
    return {
      cellAt: (ms) =>
        around(ms, monthNumber(zone.toLocal(ms)), (month) => zone.toInstant(startOfMonth(month))),
    };
  }
  const grid = billingGrid({
    billing_anchor: anchor,
    billing_cycle: 'anniversary',
    billing_period: 'MONTHLY',
    billing_period_count: 1,
    customer_timezone: zone.name,
  });
  return { cellAt: (ms) => around(ms, grid.indexAtMs(ms), grid.boundaryMs) };
}

/**
 * The cell of an ascending boundary function that contains an instant, searched from an index near it. Equal
 * boundaries (a date that a zone skipped) make no cell.
 */
function around(
  ms: number,
  near: number,
  boundary: (k: number) => number,
): { start: number; end: number } {
  let k = near;
  while (boundary(k) > ms) k -= 1;
  while (boundary(k + 1) <= ms) k += 1;
  return { start: boundary(k), end: boundary(k + 1) };
}
