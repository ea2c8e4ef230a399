import {
  quotaSources,
  sourcesDuring,
  sourcesWithQuota,
  type EntitlementSource,
} from '../../../domain/entitlement/effective-limits.ts';
import {
  quotaCycle,
  quotaGrant,
  shareQuotas,
  type QuotaLine,
} from '../../../domain/entitlement/quota-usage.ts';
import { isCountable } from '../../../domain/entitlement/quota-windows.ts';
import type { MeterSpec, UsageAnswers, UsageQuery } from '../../../domain/metering/usage.ts';
import { decimal } from '../../../domain/money.ts';
import type { ChargeCell } from '../../../domain/pricing/proration.ts';
import type { QuotaShare } from '../../../domain/pricing/quota-share.ts';
import { commitmentWindows, type MeasuredLine } from '../../../domain/pricing/usage-measure.ts';
import { quotaScheduleAt } from '../../../domain/subscription/reset-schedule.ts';
import { earlierOf, epochMs, isoText, laterOf } from '../../../domain/time/instant.ts';
import { windowGrid } from '../../../domain/time/usage-windows.ts';
import { groupBy } from '../../../domain/group-by.ts';
import type { AllowanceFacts } from './allowances.ts';
import { usageStream } from './usage-stream.ts';

/** The quotas for windows of time that a charge cell of a line competes for, and the query of its usage by time. */
export interface CellQuota {
  readonly sources: readonly EntitlementSource[];
  readonly schedule: ReturnType<typeof quotaScheduleAt>;
  /** Lines with the same filters are one stream. */
  readonly stream: string;
  /** From the start of the cycle of the subscription: earlier usage decides which windows are open. */
  readonly query: UsageQuery;
}

/** What a meter version counts, as the rule of quotas reads it. */
export const countedMeter = ({ aggregation, reset_usage }: MeterSpec) => ({
  aggregation: aggregation.type,
  bucketed: aggregation.bucket_size !== null,
  lifetime: reset_usage === 'NEVER',
});

/**
 * Null if no quota is in force for the line's meter in the cell, or if a later version of the meter counts
 * something that has no windows (money 7.2).
 */
export function cellQuota(
  { subscription, entitlements }: Pick<AllowanceFacts, 'subscription' | 'entitlements'>,
  { service }: ChargeCell,
  query: UsageQuery,
  spec: MeterSpec,
): CellQuota | null {
  const inService = quotaSources(sourcesDuring(entitlements, service));
  if (inService.length === 0 || !isCountable(countedMeter(spec))) return null;
  const schedule = quotaScheduleAt(subscription, service.start);
  const cycle = quotaCycle(schedule, service.start);
  const start = earlierOf(laterOf(cycle.start, schedule.start_date), service.start);
  // A window that an earlier plan opened lasts until its end (money 7.4).
  const sources = sourcesWithQuota(sourcesDuring(entitlements, { start, end: service.end }));
  return {
    sources,
    schedule,
    stream: usageStream(query),
    query: {
      ...query,
      key: `${query.key}/times`,
      start,
      window: null,
      group_by: [],
      by_time: true,
    },
  };
}

/** A charge cell of a line that competes for quotas. */
interface Claimant {
  readonly cell: ChargeCell;
  readonly query: UsageQuery;
  /** Queries of the windows that rate the cell, if it is rated window by window without a bucket. */
  readonly windows: ReadonlyMap<string, UsageQuery> | null;
  readonly measured: MeasuredLine;
  readonly quota: CellQuota | null;
  readonly meter_id: string;
}

/**
 * What the quotas leave to bill, by the key of the query of each cell: lines of one meter use the same windows in
 * each charge cell (money 7.5, billing 4.6).
 */
export function shareMeterQuotas(
  claimants: readonly Claimant[],
  answers: UsageAnswers['answers'],
): ReadonlyMap<string, QuotaShare> {
  const granted = claimants.flatMap((claimant) =>
    claimant.quota === null ? [] : [{ ...claimant, quota: claimant.quota }],
  );
  const perCell = groupBy(granted, ({ meter_id, cell }) =>
    JSON.stringify([meter_id, cell.cell.start, cell.cell.end]),
  );
  return new Map(
    [...perCell.values()].flatMap((group) => {
      const sources = new Set(group.flatMap(({ quota }) => quota.sources));
      const lines = group.map(({ quota, ...claimant }): QuotaLine => ({
        line_id: claimant.query.key,
        stream: quota.stream,
        service: claimant.cell.service,
        moments: answers.get(quota.query.key)!.rows.map(({ window_start, quantity }) => ({
          at: epochMs(window_start!),
          quantity: decimal(quantity),
        })),
        windowOf: windowFinder({ ...claimant, quota }),
      }));
      return [...shareQuotas([...sources].map(quotaGrant), group[0]!.quota.schedule, lines)];
    }),
  );
}

/** The window of the price that contains an instant, by the `window_start` of the rows that rate it. */
function windowFinder({ query, windows, measured }: Claimant): QuotaLine['windowOf'] {
  if (query.window !== null) {
    const grid = windowGrid(query.window);
    return (at) => isoText(grid.cellAt(at).start);
  }
  if (windows === null) return () => null;
  const committed = (commitmentWindows(measured) ?? []).map(({ grid, service }) => ({
    start: grid.start,
    until: epochMs(service.end),
  }));
  return (at) => committed.find(({ until }) => at < until)?.start ?? null;
}
