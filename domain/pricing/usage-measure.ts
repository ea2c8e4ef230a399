import type { UsageRow } from '../metering/usage.ts';
import type { UsageWindow } from '../time/usage-windows.ts';
import type { UsageQuestion, UsageReplies } from '../metering/usage-question.ts';
import { decimal, decimalText, sum } from '../money.ts';
import type { BillingSchedule } from '../time/billing-periods.ts';
import { epochMs, intersection, type Instant, type Period } from '../time/instant.ts';
import { pausedCells, pausedMs, type IdleTime } from '../time/paused-cells.ts';
import { windowsWithin } from '../time/usage-windows.ts';
import type { BillingPeriod, Cadence } from './cadence.ts';
import type { CommitmentTerms } from './commitment.ts';
import type { CommitmentWindow } from './line-commitment.ts';
import { lengthMs } from './proration.ts';
import { commitmentReach } from './validate-commitment.ts';

/** An uncut window of a period that pauses made longer, with the pauses in it; absent without one. */
export interface LongerWindow {
  readonly reference: Period;
  readonly idle?: IdleTime | undefined;
}

/** Inputs that decide how the usage of a line is measured in one charge cell. */
export interface MeasuredLine {
  readonly service: Period;
  /** The charge cell without the cuts of the line. */
  readonly cell: Period;
  /** Pauses in the cell; absent without one. */
  readonly idle?: IdleTime | undefined;
  /** Bucket size of the price, else of the meter. Null means no windows. */
  readonly bucket: UsageWindow | null;
  readonly commitment: CommitmentTerms | null;
  /** Cadence of the price. */
  readonly charge: Cadence;
  readonly schedule: BillingSchedule;
  /** The windows of the commitment's duration in a period that pauses made longer; null or absent in any other. */
  readonly longer_durations?: readonly LongerWindow[] | null;
}

/**
 * The usage queries of the line (billing 2.4, 6.2): one for the service, with the windows of the
 * bucket if there is one. A commitment shorter than the charge period, without a bucket, applies per window.
 * Then each window is one query.
 */
export function measureQuestions(line: MeasuredLine): readonly UsageQuestion[] {
  const { start, end } = line.service;
  const windows = durationWindows(line);
  if (windows === null) return [{ key: USAGE_KEY, start, end, window: line.bucket }];
  return windows.map(({ service }) => ({
    key: windowKey(service.start),
    start: service.start,
    end: service.end,
    window: null,
  }));
}

/** The rows to rate, from the answers to `measureQuestions`. Windows without usage are omitted. */
export function measuredRows(line: MeasuredLine, replies: UsageReplies): readonly UsageRow[] {
  const windows = durationWindows(line);
  if (windows === null) return replies.get(USAGE_KEY) ?? [];
  return windows.flatMap(({ grid, service }) => {
    const rows = replies.get(windowKey(service.start)) ?? [];
    if (rows.length === 0) return [];
    return [
      {
        group: [],
        window_start: grid.start,
        quantity: decimalText(sum(rows.map((row) => decimal(row.quantity)))),
        event_count: rows.reduce((count, row) => count + row.event_count, 0),
      },
    ];
  });
}

/** Whether the price is rated window by window. */
export function isWindowed(line: MeasuredLine): boolean {
  return line.bucket !== null || durationWindows(line) !== null;
}

/**
 * The windows that a commitment applies to separately, including empty ones. Null when it applies to the
 * charge period or to a longer term. A preview or draft within a period counts only windows that begin before
 * `until` (billing 6.2).
 */
export function commitmentWindows(
  line: MeasuredLine,
  until: Instant | null = null,
): readonly CommitmentWindow[] | null {
  if (line.commitment === null) return null;
  const windows = durationWindows(line, true) ?? bucketWindows(line);
  if (windows === null || until === null) return windows;
  return windows.filter(({ service }) => epochMs(service.start) < epochMs(until));
}

function bucketWindows({
  bucket,
  commitment,
  service,
  idle,
}: MeasuredLine): CommitmentWindow[] | null {
  if (bucket === null || !commitment!.windowed) return null;
  const windows = windowsWithin(bucket, service).map(
    ({ window_start, window_end, start, end }): CommitmentWindow => ({
      grid: { start: window_start, end: window_end },
      service: { start, end },
    }),
  );
  if (idle === undefined) return windows;
  // The clock of a bucket does not move with a pause, except that of months of the billing anchor.
  const lengthens = idle.lengthens && (bucket.longer_months ?? null) !== null;
  return withoutPaused(windows, { ...idle, lengthens });
}

/** The windows that are not wholly in a pause, each with the pauses in it. */
function withoutPaused(
  windows: readonly CommitmentWindow[],
  idle: IdleTime | undefined,
): CommitmentWindow[] {
  if (idle === undefined) return [...windows];
  return windows.flatMap((window) => {
    const paused = pausedMs(window.service, idle.times);
    if (paused === 0) return [window];
    return paused < lengthMs(window.service) ? [{ ...window, idle }] : [];
  });
}

/** Windows of the duration of the commitment. With a bucketed price only if `besideBucket`. */
function durationWindows(line: MeasuredLine, besideBucket = false): CommitmentWindow[] | null {
  const { commitment, charge, service, schedule, cell, idle } = line;
  if (commitment === null || commitment.windowed || commitment.duration === null) return null;
  if (line.bucket !== null && !besideBucket) return null;
  if (commitmentReach(commitment, charge) !== 'windows') return null;
  if (line.longer_durations)
    return line.longer_durations.flatMap((own) => servedPart(own, service));
  const unit = commitment.duration as Exclude<BillingPeriod, 'ONETIME'>;
  const cadence = { billing_period: unit, billing_period_count: 1 };
  const windows = pausedCells(schedule, cadence, cell, idle?.times ?? []).flatMap((own) => {
    const cut = intersection(own.cell, service.start, service.end);
    return cut === null ? [] : [{ grid: own.reference, service: cut }];
  });
  return withoutPaused(windows, idle);
}

/** The part of a window that the line serves; none if all of it is paused. */
function servedPart({ reference, idle }: LongerWindow, { start, end }: Period): CommitmentWindow[] {
  const service = intersection(reference, start, end);
  if (service === null || pausedMs(service, idle?.times ?? []) === lengthMs(service)) return [];
  return [{ grid: reference, service, ...(idle === undefined ? {} : { idle }) }];
}

/** Key of the query for the whole service. */
const USAGE_KEY = 'usage';

const windowKey = (start: Instant): string => `${USAGE_KEY}:${start}`;
