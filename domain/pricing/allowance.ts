import assert from 'node:assert/strict';
import type { ExplanationStepOf } from '../../schemas/explanation.ts';
import { decimalText, Decimal, sum, ZERO } from '../money.ts';
import { byText } from '../text-order.ts';
import type { TimeShare } from './proration.ts';

/** Free usage of one line per reset window. Absent for a line without an entitlement. */
export interface AllowanceShare {
  readonly usageResetPeriod: string;
  /** Set if the limit is that of a part of a period. */
  readonly proration?: LimitProration;
  /** One entry for each claim of the line, in the order of the claims. */
  readonly entries: readonly AllowanceEntry[];
}

/** The limit of a part of a period: a share of `whole` in whole units, and all of `own` (billing 4.2). */
export interface LimitProration {
  readonly whole: Decimal;
  readonly own: Decimal;
  readonly share: TimeShare;
  readonly limit: Decimal;
}

export interface AllowanceEntry {
  /** The reset window of the claim. */
  readonly start: string;
  readonly end: string;
  /** Instant that orders the claim: in the reset window, or before it (a usage window that began earlier). */
  readonly at: string;
  /** The limit in force for the claim. Null means unlimited. */
  readonly limit: Decimal | null;
  /** Usage counted against the limit before this claim: earlier usage of the window, of all lines. */
  readonly usedBefore: Decimal;
  readonly usage: Decimal;
  readonly free: Decimal;
  /** As in the claim. */
  readonly part_of?: string;
}

/** One stretch of usage that the allowance can cover. */
export interface AllowanceClaim {
  readonly line_id: string;
  /**
   * Instant that orders the claim: start of its usage window, or of the service of the line in the reset
   * window.
   */
  readonly at: string;
  /** A negative value (corrections) gets no allowance and lowers the counter. */
  readonly usage: Decimal;
  /**
   * Sum of the limits of all sources in force at the claim. Null means unlimited (billing 4.2,
   * 4.4). After a change within the window later claims have the new limit; the counter is not reset.
   */
  readonly limit: Decimal | null;
  /** Start of the usage window of which the claim is a part; absent if no reset falls into a usage window. */
  readonly part_of?: string;
}

/** A reset window: the limit is granted once in it. */
export interface AllowanceWindow {
  readonly start: string;
  readonly end: string;
  /** Usage of the window before its first claim (a window already running, or a line that began later). */
  readonly usedBefore: Decimal;
  readonly claims: readonly AllowanceClaim[];
}

/**
 * Allocates a metered allowance to all lines of one meter (billing 4.1, 4.6). In each reset window
 * the limit is consumed in the order of time, then of line ids. It is granted once, not once per line.
 * Billable is `usage − free`; over the periods of one window it sums to max(0, total − limit). A limit of 0
 * makes nothing free; null makes everything free.
 */
export function shareAllowance(
  usageResetPeriod: string,
  windows: readonly AllowanceWindow[],
): ReadonlyMap<string, AllowanceShare> {
  const shares = new Map<string, AllowanceEntry[]>();
  for (const window of windows) {
    let used = window.usedBefore;
    for (const claim of inOrder(window.claims)) {
      const { limit } = claim;
      assert(limit === null || limit.gte(0), 'a negative limit');
      const usage = Decimal.max(claim.usage, ZERO);
      const left = limit === null ? usage : Decimal.max(limit.minus(used), ZERO);
      const entries = shares.get(claim.line_id) ?? [];
      shares.set(claim.line_id, entries);
      entries.push({
        start: window.start,
        end: window.end,
        at: claim.at,
        limit,
        usedBefore: used,
        usage,
        free: Decimal.min(left, usage),
        ...(claim.part_of === undefined ? {} : { part_of: claim.part_of }),
      });
      used = used.plus(claim.usage);
    }
  }
  return new Map([...shares].map(([lineId, entries]) => [lineId, { usageResetPeriod, entries }]));
}

export function billableUsage(share: AllowanceShare): Decimal {
  return sum(share.entries.map((entry) => entry.usage.minus(entry.free)));
}

/** By time, then by line; claims of one line at one time stay in their order. */
function inOrder(claims: readonly AllowanceClaim[]): readonly AllowanceClaim[] {
  return claims.toSorted(
    (left, right) => byText(left.at, right.at) || byText(left.line_id, right.line_id),
  );
}

function explainProration({ whole, own, share, limit }: LimitProration) {
  const { part_ms, whole_ms } = share;
  const amounts = { whole: decimalText(whole), own: decimalText(own), limit: decimalText(limit) };
  return { ...amounts, part_ms, whole_ms };
}

/** The explanation step of the allowance: at most `maxEntries` windows, the rest as totals. */
export function explainAllowance(
  share: AllowanceShare,
  measured: Decimal,
  billable: Decimal,
  maxEntries: number,
): ExplanationStepOf<'allowance'> {
  const shown = share.entries.slice(0, maxEntries);
  const rest = share.entries.slice(maxEntries);
  return {
    step: 'allowance',
    rule: 'billing 4',
    usage_reset_period: share.usageResetPeriod,
    ...(share.proration === undefined ? {} : { proration: explainProration(share.proration) }),
    windows: shown.map((entry) => ({
      start: entry.start,
      end: entry.end,
      at: entry.at,
      limit: entry.limit === null ? null : decimalText(entry.limit),
      used_before: decimalText(entry.usedBefore),
      usage: decimalText(entry.usage),
      free: decimalText(entry.free),
      billable: decimalText(entry.usage.minus(entry.free)),
    })),
    omitted:
      rest.length === 0
        ? null
        : {
            count: rest.length,
            free: decimalText(sum(rest.map((entry) => entry.free))),
            billable: decimalText(sum(rest.map((entry) => entry.usage.minus(entry.free)))),
          },
    free: decimalText(Decimal.max(measured.minus(billable), ZERO)),
    billable: decimalText(billable),
  };
}
