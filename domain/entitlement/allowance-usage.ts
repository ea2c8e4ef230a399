import type { AggregationType, ResetUsage, UsageRow } from '../metering/usage.ts';
import { windowGrid, type UsageWindow } from '../time/usage-windows.ts';
import type { UsageQuestion, UsageReplies } from '../metering/usage-question.ts';
import { decimal, sum, ZERO, type Decimal } from '../money.ts';
import { usageUnits } from '../pricing/usage-units.ts';
import { byText } from '../text-order.ts';
import {
  earlierOf,
  epochMs,
  intersection,
  isoText,
  laterOf,
  type Instant,
  type Period,
} from '../time/instant.ts';
import { resetWindowAt, type ResetSchedule, type UsageResetPeriod } from '../time/reset-windows.ts';
import {
  shareAllowance,
  type AllowanceClaim,
  type AllowanceShare,
  type AllowanceWindow,
  type LimitProration,
} from '../pricing/allowance.ts';

/** The meter of an entitlement, and how often the allowance resets on this subscription. */
export interface AllowanceMeter {
  readonly aggregation: AggregationType;
  readonly reset_usage: ResetUsage;
  /** Null: once in each charge period. */
  readonly usage_reset_period: UsageResetPeriod | null;
  readonly schedule: ResetSchedule;
  /** The charge cell that is rated. */
  readonly charge_period: Period;
  /** The windows of a period that pauses made longer; null or absent for those of the schedule. */
  readonly windows?: readonly Period[] | null;
}

/** A USAGE line item on the meter, for one charge cell. */
export interface AllowanceLine {
  readonly line_id: string;
  /**
   * Lines with the same filters are one stream: successive versions of a line. Usage before the first of
   * them counts once (billing 4.6).
   */
  readonly stream: string;
  readonly service: Period;
  /** Sum of all sources in force for the line; null means unlimited. */
  readonly limit: Decimal | null;
  /** How the limit of a part of a period comes about. */
  readonly proration?: LimitProration;
  /** Whether the price is rated per window. If so, each row of its usage is a claim. */
  readonly windowed: boolean;
  /** The windows of the price's or the meter's bucket; null without a bucket. */
  readonly bucket: UsageWindow | null;
  /** Without a bucket, the windows of the commitment that rate the line; null or absent without them. */
  readonly committed?: readonly RatedWindow[] | null;
}

/** A window of the price: whole (`grid`) and cut to the service. */
interface RatedWindow {
  readonly grid: Period;
  readonly service: Period;
}

/**
 * Totals that never decrease over time. Only for these can a window's usage so far be split
 * (billing 4).
 */
const CUMULATIVE: ReadonlySet<AggregationType> = new Set([
  'COUNT', 'SUM', 'SUM_WITH_MULTIPLIER', 'COUNT_UNIQUE', 'MAX',
]); // prettier-ignore
const ADDITIVE: ReadonlySet<AggregationType> = new Set(['COUNT', 'SUM', 'SUM_WITH_MULTIPLIER']);
/** What an explanation says for an entitlement without a reset period. */
const PER_CHARGE_PERIOD = 'with each charge period';

/**
 * The questions needed, in addition to the line's own usage, to compute its free units: for each reset
 * window the usage before the line's service began, and, when the service spans several windows, the
 * usage of each. If a reset falls into a window of the price, the usage of each part of it. Empty for
 * aggregates that do not accumulate: their allowance is per charge cell.
 */
export function allowanceQuestions(
  meter: AllowanceMeter,
  line: AllowanceLine,
): readonly UsageQuestion[] {
  if (!accumulates(meter)) return [];
  const windows = windowsOf(meter, line.service);
  const cutByReset = windowsCutByReset(meter, line, windows);
  return windows.flatMap((window): UsageQuestion[] => {
    const begun = hasBegun(window, line);
    const inside = insideOf(window, line);
    const before = { key: beforeKey(window), start: window.start, end: inside.start };
    const through = { key: throughKey(window), start: window.start, end: inside.end };
    const within = { key: withinKey(window), ...inside };
    if (line.windowed)
      return [
        ...(begun ? [{ ...before, window: line.bucket }] : []),
        ...[...cutByReset.values()].flatMap((rated) => {
          const part = intersection(rated, inside.start, inside.end);
          return part === null ? [] : [{ key: partKey(part), ...part, window: null }];
        }),
      ];
    return [
      ...(begun ? [{ ...before, window: null }] : []),
      ...(begun && !isAdditive(meter) ? [{ ...through, window: null }] : []),
      ...(windows.length > 1 && !(begun && !isAdditive(meter))
        ? [{ ...within, window: null }]
        : []),
    ];
  });
}

/**
 * Shares the allowance among the lines of the meter in one charge cell (billing 4). A line without
 * a bucket gets free units once per reset window; a line with a bucket gets them once per row, and once per part of a
 * row that a reset cuts.
 */
export function shareMeterAllowance(
  meter: AllowanceMeter,
  lines: readonly MeasuredAllowanceLine[],
): ReadonlyMap<string, AllowanceShare> {
  const windows = new Map<string, MutableWindow>();
  /** Usage that is counted already, by stream and window. */
  const counted = new Map<string, Decimal>();
  for (const measured of lines.toSorted(byServiceStart)) {
    const { line } = measured;
    for (const part of partsOf(meter, measured)) {
      const window = windows.get(part.window.start) ?? openWindow(part.window);
      windows.set(part.window.start, window);
      window.end = laterOf(window.end, part.window.end);
      // The first line of a stream adds the usage before it; for the next line, usage of the first is a claim.
      const key = JSON.stringify([line.stream, part.window.start]);
      const known = counted.get(key);
      const before = part.usedBefore ?? known ?? ZERO;
      if (known === undefined) window.usedBefore = window.usedBefore.plus(before);
      else window.claims.push(...claimsBetween(meter, line, part.start, before.minus(known)));
      counted.set(key, before.plus(sum(part.claims.map(({ usage }) => usage))));
      window.claims.push(...part.claims);
    }
  }
  // Lines are ordered by start and their windows by time, so the windows are in order too.
  const usageResetPeriod = meter.usage_reset_period ?? PER_CHARGE_PERIOD;
  const shares = shareAllowance(usageResetPeriod, [...windows.values()]);
  const nothing = { usageResetPeriod, entries: [] };
  return new Map(
    lines.map(({ line: { line_id, proration } }) => {
      const share = shares.get(line_id) ?? nothing;
      return [line_id, proration === undefined ? share : { ...share, proration }];
    }),
  );
}

/**
 * What was used between two lines, when no line counted it. A sum below zero is a correction. A maximum below zero
 * means that nothing was used: the parts of a window that two lines cut have a maximum each.
 */
function claimsBetween(
  meter: AllowanceMeter,
  { limit }: AllowanceLine,
  at: Instant,
  usage: Decimal,
): AllowanceClaim[] {
  const isUsed = isAdditive(meter) ? !usage.isZero() : usage.gt(0);
  return isUsed ? [{ line_id: NO_LINE, at, usage, limit }] : [];
}

/** A line with its measured usage: its own rows and the answers to `allowanceQuestions`. */
export interface MeasuredAllowanceLine {
  readonly line: AllowanceLine;
  readonly rows: readonly UsageRow[];
  readonly replies: UsageReplies;
}

type MutableWindow = { -readonly [Key in keyof AllowanceWindow]: AllowanceWindow[Key] } & {
  readonly claims: AllowanceClaim[];
};

const openWindow = ({ start, end }: Window): MutableWindow => ({
  start,
  end,
  usedBefore: ZERO,
  claims: [],
});

/** A reset window; an open window (NEVER) ends with the rated cell. */
type Window = Period;

/** The owner of a claim for usage that no line counts. It comes before the lines of the same time. */
const NO_LINE = '';

interface Part {
  readonly window: Window;
  /** Start of the line's service in the window. */
  readonly start: Instant;
  /** Usage of the window before the line; null if the window begins with it. */
  readonly usedBefore: Decimal | null;
  readonly claims: readonly AllowanceClaim[];
}

function partsOf(meter: AllowanceMeter, { line, rows, replies }: MeasuredAllowanceLine): Part[] {
  const claim = (at: Instant, usage: Decimal): AllowanceClaim => ({
    line_id: line.line_id,
    at,
    usage,
    limit: line.limit,
  });
  if (!accumulates(meter)) {
    const claims = ownClaims(meter, line, rows, claim);
    return [{ window: line.service, start: line.service.start, usedBefore: null, claims }];
  }
  const windows = windowsOf(meter, line.service);
  const cutByReset = windowsCutByReset(meter, line, windows);
  return windows.map((window): Part => {
    const begun = hasBegun(window, line);
    const inside = insideOf(window, line);
    const { start } = inside;
    const usedBefore = begun ? total(replies, beforeKey(window)) : null;
    if (line.windowed) {
      const claims = ownClaims(meter, line, rows, claim).flatMap((whole): AllowanceClaim[] => {
        const rated = cutByReset.get(whole.at);
        if (rated === undefined) {
          const isInside = laterOf(whole.at, line.service.start) >= inside.start;
          return isInside && whole.at < inside.end ? [whole] : [];
        }
        const part = intersection(rated, inside.start, inside.end);
        if (part === null) return [];
        return [{ ...claim(part.start, total(replies, partKey(part))), part_of: whole.at }];
      });
      return { window, start, usedBefore, claims };
    }
    const usage =
      usedBefore !== null && !isAdditive(meter)
        ? total(replies, throughKey(window)).minus(usedBefore)
        : windows.length > 1
          ? total(replies, withinKey(window))
          : totalOf(rows);
    return { window, start, usedBefore, claims: [claim(start, usage)] };
  });
}

/** The line's own usage as claims: one for each unit that its price rates separately. */
function ownClaims(
  meter: AllowanceMeter,
  line: AllowanceLine,
  rows: readonly UsageRow[],
  claim: (at: Instant, usage: Decimal) => AllowanceClaim,
): AllowanceClaim[] {
  return usageUnits(rows, line.windowed, meter.aggregation).map((unit) =>
    claim(unit.windowStart ?? line.service.start, unit.quantity),
  );
}

function windowsOf(meter: AllowanceMeter, service: Period): readonly Window[] {
  if (meter.usage_reset_period === null) return [meter.charge_period];
  const { start_date, end_date = null } = meter.schedule;
  if (meter.windows)
    return meter.windows.flatMap((uncut): Window[] => {
      // The first window begins with the subscription, and the last one ends with it, as in any other period.
      const window = intersection(uncut, start_date, end_date);
      if (window === null || intersection(window, service.start, service.end) === null) return [];
      return [window];
    });
  const windows: Window[] = [];
  let at = service.start;
  while (epochMs(at) < epochMs(service.end)) {
    const { start, end } = resetWindowAt(meter.schedule, meter.usage_reset_period, at);
    windows.push({ start, end: end ?? service.end });
    if (end === null || epochMs(end) <= epochMs(at)) break;
    at = end;
  }
  return windows;
}

/**
 * The windows of the price into which a reset falls, cut to the service, by their start on their grid. Usage that adds
 * up is divided there; any other belongs to the reset window in which its window begins.
 */
function windowsCutByReset(
  meter: AllowanceMeter,
  line: AllowanceLine,
  resets: readonly Window[],
): ReadonlyMap<Instant, Period> {
  if (!line.windowed || !isAdditive(meter)) return new Map();
  const grid = line.bucket === null ? null : windowGrid(line.bucket);
  const ratedAt = (at: Instant): RatedWindow | undefined => {
    if (grid === null)
      return line.committed?.find(({ service }) => service.start <= at && at < service.end);
    const cell = grid.cellAt(epochMs(at));
    const whole = { start: isoText(cell.start), end: isoText(cell.end) };
    return { grid: whole, service: intersection(whole, line.service.start, line.service.end)! };
  };
  return new Map(
    resets.flatMap(({ start }): [Instant, Period][] => {
      if (start <= line.service.start) return [];
      const rated = ratedAt(start);
      return rated === undefined || rated.service.start === start
        ? []
        : [[rated.grid.start, rated.service]];
    }),
  );
}

const hasBegun = (window: Window, line: AllowanceLine): boolean =>
  epochMs(window.start) < epochMs(line.service.start);

const insideOf = (window: Window, line: AllowanceLine): Period => ({
  start: laterOf(window.start, line.service.start),
  end: earlierOf(window.end, line.service.end),
});

const accumulates = (meter: AllowanceMeter): boolean =>
  meter.reset_usage === 'BILLING_PERIOD' && CUMULATIVE.has(meter.aggregation);
const isAdditive = (meter: AllowanceMeter): boolean => ADDITIVE.has(meter.aggregation);

const beforeKey = (window: Window) => `before:${window.start}`;
const throughKey = (window: Window) => `through:${window.start}`;
const partKey = (part: Period) => `part:${part.start}`;
const withinKey = (window: Window) => `within:${window.start}`;

const total = (replies: UsageReplies, key: string): Decimal => totalOf(replies.get(key) ?? []);
const totalOf = (rows: readonly UsageRow[]): Decimal =>
  sum(rows.map((row) => decimal(row.quantity)));

const byServiceStart = (left: MeasuredAllowanceLine, right: MeasuredAllowanceLine): number =>
  byText(left.line.service.start, right.line.service.start);
