import assert from 'node:assert/strict';
import type { AggregationType } from '../metering/usage.ts';
import { Decimal, sum, ZERO } from '../money.ts';
import type { BillingModel } from '../pricing/price.ts';
import { problems } from '../pricing/problems.ts';
import { byText } from '../text-order.ts';
import { DAY_MS, startOfDay, startOfWeek } from '../time/civil.ts';
import { epochMs, isoText, type Instant, type Period } from '../time/instant.ts';
import { zoneOf } from '../time/zone.ts';

export type QuotaUnit = 'hour' | 'day' | 'week' | 'subscription_period';

/** A time-boxed quota on a metered entitlement (money 7.1). */
export interface QuotaConfig {
  readonly entitlement_id: string;
  readonly grant_measure: 'quantity' | 'amount';
  readonly grant_duration_value: number;
  readonly grant_duration_unit: QuotaUnit;
  /** Units, or money for the measure `amount`. */
  readonly grant_quota: Decimal;
  readonly grant_allocation_behavior: 'first_usage' | 'unit_start';
  readonly aggregation_mode: 'additive' | 'parallel';
}

/** Refuses quotas of one feature that would be ambiguous or could not be counted (money 7.2). */
export function validateQuotas(
  configs: readonly QuotaConfig[],
  feature: {
    readonly aggregation: AggregationType;
    readonly bucketed: boolean;
    readonly billing_models: readonly BillingModel[];
  },
): void {
  const found = problems();
  const at = 'aggregation_mode';
  if (feature.aggregation === 'MAX' || feature.bucketed) {
    found.add('feature_id', 'quota_on_windows', 'quotas need a meter without windows, not MAX');
  }
  const measures = new Set(configs.map((config) => config.grant_measure));
  if (measures.has('amount') && feature.billing_models.includes('TIERED')) {
    found.add('grant_measure', 'quota_amount_on_tiers', 'must be quantity: the price has tiers');
  }
  if (measures.size > 1) {
    found.add('grant_measure', 'quota_mixed_measure', 'must be the same on all of a feature');
  }
  const modes = new Set(configs.map((config) => config.aggregation_mode));
  if (modes.size > 1) found.add(at, 'quota_mixed_mode', 'must be the same on all of a feature');
  const durations = new Set(
    configs.map((config) => `${config.grant_duration_value} ${config.grant_duration_unit}`),
  );
  if (modes.has('additive') && durations.size > 1) {
    found.add('grant_duration_value', 'quota_mixed_duration', 'must be the same on additive ones');
  }
  for (const config of configs) {
    if (config.grant_quota.lte(0)) {
      found.add('grant_quota', 'quota_not_positive', 'must be greater than 0');
    }
    if (!Number.isInteger(config.grant_duration_value) || config.grant_duration_value < 1) {
      found.add('grant_duration_value', 'quota_duration', 'must be an integer of at least 1');
    }
  }
  found.refuse();
}

/**
 * One slot of quotas. Additive configs share one slot, keyed by the lowest id; each parallel config has its
 * own
 * (money 7.5).
 */
export interface QuotaSlot {
  readonly config: QuotaConfig;
  readonly quota: Decimal;
}

export function quotaSlots(configs: readonly QuotaConfig[]): readonly QuotaSlot[] {
  const ordered = configs.toSorted((left, right) =>
    byText(left.entitlement_id, right.entitlement_id),
  );
  const first = ordered[0];
  if (first === undefined) return [];
  if (first.aggregation_mode === 'parallel') {
    return ordered.map((config) => ({ config, quota: config.grant_quota }));
  }
  return [{ config: first, quota: sum(ordered.map((config) => config.grant_quota)) }];
}

/** When a window may begin: a subscription's cycle, and the end of earlier windows of the slot. */
export interface QuotaCycle {
  readonly cycle: Period;
  readonly covered_until: Instant | null;
  readonly timezone: string;
}

/**
 * The window that the first uncovered usage opens (money 7.6, 7.7). It begins at the usage, or
 * at the start of the usage's unit on the subscription's clock, but not before `covered_until`. It ends
 * after the duration, at the latest with the cycle. A rest of the cycle shorter than an hour is added to
 * it. Null for usage that is covered or outside the cycle, or when the quota would outlast the cycle (7.3).
 */
export function openQuotaWindow(
  config: Pick<
    QuotaConfig,
    'grant_duration_value' | 'grant_duration_unit' | 'grant_allocation_behavior'
  >,
  { cycle, covered_until, timezone }: QuotaCycle,
  firstUsage: Instant,
): Period | null {
  const cycleStart = epochMs(cycle.start);
  const cycleEnd = epochMs(cycle.end);
  const from = Math.max(cycleStart, covered_until === null ? cycleStart : epochMs(covered_until));
  const usage = epochMs(firstUsage);
  if (usage < from || usage >= cycleEnd) return null;
  if (config.grant_duration_unit === 'subscription_period') return cycle;
  const step = stepOf(config.grant_duration_unit, config.grant_duration_value, timezone);
  if (step.after(cycleStart) >= cycleEnd) return null;

  const start =
    config.grant_allocation_behavior === 'unit_start'
      ? Math.max(step.strideHolding(usage, cycleStart), from)
      : usage;
  const end = Math.min(step.after(start), cycleEnd);
  return { start: isoText(start), end: isoText(cycleEnd - end < HOUR_MS ? cycleEnd : end) };
}

const HOUR_MS = 3_600_000;

interface DurationStep {
  /** One duration later; days and weeks by local time. */
  after(ms: number): number;
  /** Start of the stride that contains `ms`, counted from the unit that contains `origin`. */
  strideHolding(ms: number, origin: number): number;
}

function stepOf(
  unit: Exclude<QuotaUnit, 'subscription_period'>,
  count: number,
  timezone: string,
): DurationStep {
  assert(count >= 1, `a duration of ${count}`);
  const zone = zoneOf(timezone);
  if (unit === 'hour') {
    const length = count * HOUR_MS;
    const floor = (ms: number) => {
      const offset = zone.offsetAt(ms);
      return Math.floor((ms + offset) / HOUR_MS) * HOUR_MS - offset;
    };
    return {
      after: (ms) => ms + length,
      strideHolding: (ms, origin) =>
        floor(origin) + Math.floor((ms - floor(origin)) / length) * length,
    };
  }
  const length = count * (unit === 'week' ? 7 : 1) * DAY_MS;
  const floor = unit === 'week' ? startOfWeek : startOfDay;
  return {
    after: (ms) => zone.toInstant(zone.toLocal(ms) + length),
    strideHolding(ms, origin) {
      const first = floor(zone.toLocal(origin));
      const strides = Math.floor((zone.toLocal(ms) - first) / length);
      return zone.toInstant(first + strides * length);
    },
  };
}

/** Changes only to `exhausted`; whether a window is over depends on the clock (money 7.4, 7.10). */
export function quotaStatus(quota: Decimal, usage: Decimal): 'active' | 'exhausted' {
  return usage.gte(quota) ? 'exhausted' : 'active';
}

/**
 * Usage to bill for the windows of one slot: in each window, usage beyond its quota (money 7.10).
 */
export function quotaOverage(
  windows: readonly { readonly quota: Decimal; readonly usage: Decimal }[],
): Decimal {
  return sum(windows.map(({ quota, usage }) => Decimal.max(usage.minus(quota), ZERO)));
}

/**
 * Usage to bill under parallel quotas: usage in the union of the times in which any window was
 * exhausted, each unit once (money 7.10). `exhausted_at` is the exact time at which usage
 * reached the quota; null when it did not.
 */
export function parallelQuotaOverage(
  windows: readonly { readonly exhausted_at: Instant | null; readonly valid_to: Instant }[],
  usage: readonly { readonly at: Instant; readonly quantity: Decimal }[],
): Decimal {
  const spans = windows
    .filter((window) => window.exhausted_at !== null)
    .map((window) => [epochMs(window.exhausted_at!), epochMs(window.valid_to)] as const);
  const isOver = (at: number) => spans.some(([from, until]) => at >= from && at < until);
  return sum(usage.filter(({ at }) => isOver(epochMs(at))).map(({ quantity }) => quantity));
}
