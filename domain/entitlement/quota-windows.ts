import assert from 'node:assert/strict';
import type { AggregationType } from '../metering/usage.ts';
import { Decimal, sum, ZERO } from '../money.ts';
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
  /** Units. */
  readonly grant_quota: Decimal;
  readonly grant_allocation_behavior: 'first_usage' | 'unit_start';
  readonly aggregation_mode: 'additive' | 'parallel';
}

/**
 * Refuses quotas of one meter that would be ambiguous or could not be counted (money 7.1, 7.2): 400
 * `validation_error` with each problem at its field.
 */
export function validateQuotas(configs: readonly QuotaConfig[], meter: CountedMeter): void {
  const found = problems();
  const at = 'aggregation_mode';
  if (!isCountable(meter)) found.add('feature_id', 'quota_not_countable', COUNTABLE_ONLY);
  if (configs.some((config) => config.grant_measure === 'amount'))
    found.add('grant_measure', 'quota_amount', 'must be quantity: amounts cannot be a quota');
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
    if (config.grant_duration_unit === 'subscription_period' && config.grant_duration_value !== 1)
      found.add('grant_duration_value', 'quota_duration', 'must be 1: a window is one period');
  }
  found.refuse();
}

/** What a meter version counts. */
export interface CountedMeter {
  readonly aggregation: AggregationType;
  /** The meter adds up windows of its own. */
  readonly bucketed: boolean;
  /** The meter counts from its first event on, so a window has no usage of its own. */
  readonly lifetime: boolean;
}

/** Whether usage can be counted event by event, so that windows of any length have a usage (money 7.2). */
export const isCountable = (meter: CountedMeter): boolean =>
  COUNTABLE.has(meter.aggregation) && !meter.bucketed && !meter.lifetime;

const COUNTABLE: ReadonlySet<AggregationType> = new Set(['COUNT', 'SUM', 'SUM_WITH_MULTIPLIER']);
const COUNTABLE_ONLY =
  'quotas need a meter of COUNT, SUM or SUM_WITH_MULTIPLIER without windows, with a reset';

/** Quotas that open windows together (money 7.5). */
export interface QuotaSlot {
  /** Names the slot at every instant: `''` for additive quotas, otherwise the id of the entitlement. */
  readonly key: string;
  /** Of the lowest id. */
  readonly config: QuotaConfig;
  readonly quota: Decimal;
}

/** Whether windows of both last equally long. */
export const isOfOneLength = (left: QuotaConfig, right: QuotaConfig): boolean =>
  left.grant_duration_value === right.grant_duration_value &&
  left.grant_duration_unit === right.grant_duration_unit;

/**
 * The slots of quotas that are in force together, the shared one first, then by id. Additive quotas share one slot;
 * each parallel one has its own. A change of a plan or addon can leave a subscription with additive quotas of several
 * lengths: those that are not as long as the one with the lowest id have slots of their own (money 7.2).
 */
export function quotaSlots(configs: readonly QuotaConfig[]): readonly QuotaSlot[] {
  const ordered = configs.toSorted((left, right) =>
    byText(left.entitlement_id, right.entitlement_id),
  );
  const first = ordered.find(({ aggregation_mode }) => aggregation_mode === 'additive');
  const shared = ordered.filter(
    (config) =>
      first !== undefined && config.aggregation_mode === 'additive' && isOfOneLength(config, first),
  );
  const own = ordered.filter((config) => !shared.includes(config));
  return [
    ...(first === undefined
      ? []
      : [{ key: '', config: first, quota: sum(shared.map((config) => config.grant_quota)) }]),
    ...own.map((config) => ({
      key: config.entitlement_id,
      config,
      quota: config.grant_quota,
    })),
  ];
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
