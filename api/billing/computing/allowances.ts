import {
  allowanceQuestions,
  shareMeterAllowance,
  type AllowanceLine,
  type AllowanceMeter,
} from '../../../domain/entitlement/allowance-usage.ts';
import type { AllowanceShare } from '../../../domain/pricing/allowance.ts';
import {
  effectiveEntitlements,
  sourcesDuring,
  stubLimit,
  type EffectiveEntitlement,
  type EntitlementSource,
} from '../../../domain/entitlement/effective-limits.ts';
import type { UsageAnswers, UsageQuery, UsageRow } from '../../../domain/metering/usage.ts';
import type { Decimal } from '../../../domain/money.ts';
import { compareLength } from '../../../domain/pricing/cadence.ts';
import {
  isWhole,
  sliceShare,
  type ChargeCell,
  type ProrationBehavior,
} from '../../../domain/pricing/proration.ts';
import {
  commitmentWindows,
  isWindowed,
  type MeasuredLine,
} from '../../../domain/pricing/usage-measure.ts';
import {
  pausedResetWindows,
  resetScheduleAt,
} from '../../../domain/subscription/reset-schedule.ts';
import type { PausedTime } from '../../../domain/time/paused-cells.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { groupBy } from '../../../domain/group-by.ts';
import type { BilledLine } from './billing-sources.ts';
import { usageStream } from './usage-stream.ts';

/** The free usage for which a charge cell of a line competes, and the queries that determine it. */
export interface CellAllowance {
  readonly meter: AllowanceMeter;
  readonly line: AllowanceLine;
  /** By the keys that the rule assigned. */
  readonly queries: ReadonlyMap<string, UsageQuery>;
}

export interface AllowanceFacts {
  readonly subscription: SubscriptionRow;
  readonly proration_behavior: ProrationBehavior;
  readonly line: BilledLine;
  /** Entitlements of the subscription to features of the line's meter, as they were at the end of the period. */
  readonly entitlements: readonly EntitlementSource[];
  /** Pauses of the subscription, in order of time. */
  readonly pauses: readonly PausedTime[];
}

/**
 * Null if no source grants the line's meter anything in the cell, or if quotas do (billing 4.1, money 7.1).
 * `measured` tells the windows by which the price is rated, `since` the query of usage that begins before the cell.
 */
export function cellAllowance(
  facts: AllowanceFacts,
  cell: ChargeCell,
  query: UsageQuery,
  { measured, since }: { measured: MeasuredLine; since: (from: string) => UsageQuery },
): CellAllowance | null {
  const granted = entitlementDuring(facts, cell);
  if (granted === null || granted.quotas.length > 0) return null;
  const { usage_reset_period } = granted;
  const meter: AllowanceMeter = {
    aggregation: query.aggregation,
    reset_usage: query.reset_usage,
    usage_reset_period,
    schedule: resetScheduleAt(facts.subscription, usage_reset_period, cell.cell.start),
    charge_period: cell.cell,
    windows: pausedResetWindows(
      facts.subscription,
      usage_reset_period,
      cell.cell.start,
      facts.pauses,
    ),
  };
  const line: AllowanceLine = {
    line_id: query.key,
    stream: usageStream(query),
    service: cell.service,
    ...limitIn(facts, granted, cell),
    windowed: isWindowed(measured),
    bucket: query.window,
    committed: query.window === null ? commitmentWindows(measured) : null,
  };
  const questions = allowanceQuestions(meter, line).map(({ key, start, end, window }) => {
    const asked: UsageQuery = {
      ...since(start),
      key: `${query.key}/${key}`,
      start,
      end,
      window,
      group_by: window === null ? [] : query.group_by,
    };
    return [key, asked] as const;
  });
  return { meter, line, queries: new Map(questions) };
}

/** The grant of all sources together on the meter. Features with the same meter and reset period add up. */
function entitlementDuring(
  { entitlements }: AllowanceFacts,
  { service }: ChargeCell,
): EffectiveEntitlement | null {
  const sources = entitlements.map((source) => ({
    ...source,
    // One meter has one allowance, no matter which of its features grants it.
    entitlement: { ...source.entitlement, feature_id: '' },
  }));
  return effectiveEntitlements(sourcesDuring(sources, service))[0] ?? null;
}

/**
 * With prorations, a stub gets its share of a limit granted for the period or longer (billing 4).
 */
function limitIn(
  { proration_behavior, line }: AllowanceFacts,
  granted: EffectiveEntitlement,
  { reference, cell, idle }: ChargeCell,
): Pick<AllowanceLine, 'limit' | 'proration'> {
  const whole = { limit: granted.usage_limit };
  const reset = granted.usage_reset_period;
  if (proration_behavior === 'none' || reset === 'NEVER') return whole;
  const isPerCell =
    reset === null || compareLength({ billing_period: reset, billing_period_count: 1 }, line) >= 0;
  const share = sliceShare(cell, { reference, ...(idle?.lengthens ? { idle } : {}) });
  const proration = isPerCell && !isWhole(share) ? stubLimit(granted, share) : null;
  return proration === null || proration.whole.isZero()
    ? whole
    : { limit: proration.limit, proration };
}

/** A charge cell of a line that shares the allowance: its own usage and the answers to its additional queries. */
interface Claimant {
  readonly cell: ChargeCell;
  /** The rows that rate the cell. */
  readonly rows: readonly UsageRow[];
  readonly allowance: CellAllowance | null;
}

/**
 * The free usage of each cell of a line, by the key of its query: lines of one meter share one allowance in each
 * charge cell, in time order (billing 4.6).
 */
export function shareAllowances(
  claimants: readonly (Claimant & { readonly meter_id: string })[],
  answers: UsageAnswers['answers'],
): ReadonlyMap<string, AllowanceShare> {
  const granted = claimants.flatMap((claimant) =>
    claimant.allowance === null ? [] : [{ ...claimant, allowance: claimant.allowance }],
  );
  const perCell = groupBy(granted, ({ meter_id, cell }) =>
    JSON.stringify([meter_id, cell.cell.start, cell.cell.end]),
  );
  const rowsOf = (query: UsageQuery) => answers.get(query.key)!.rows;
  return new Map(
    [...perCell.values()].flatMap((group) => {
      const measured = group.map(({ rows, allowance }) => ({
        line: allowance.line,
        rows,
        replies: new Map([...allowance.queries].map(([key, asked]) => [key, rowsOf(asked)])),
      }));
      return [...shareMeterAllowance(group[0]!.allowance.meter, measured)];
    }),
  );
}
