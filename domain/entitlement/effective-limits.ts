import assert from 'node:assert/strict';
import { invalidOperation } from '../errors.ts';
import { decimal, Decimal, sum, type Decimal as DecimalType } from '../money.ts';
import type { LimitProration } from '../pricing/allowance.ts';
import { prorate, type TimeShare } from '../pricing/proration.ts';
import { isWithin, type Instant } from '../time/instant.ts';
import type { QuotaConfig, QuotaUnit } from './quota-windows.ts';

export type UsageResetPeriod = (typeof USAGE_RESET_PERIODS)[number];
/** Shortest first: on a tie between sources the shortest wins. */
export const USAGE_RESET_PERIODS = [
  'DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL', 'NEVER',
] as const; // prettier-ignore

/** Fields of a stored entitlement that the rules read. */
export interface EntitlementRecord {
  readonly id: string;
  readonly entity_type: string;
  readonly entity_id: string;
  readonly feature_id: string;
  readonly feature_type: 'metered' | 'boolean' | 'static' | 'config';
  readonly is_enabled: boolean;
  /** Whole units; null means unlimited, 0 means no free units. Metered only. */
  readonly usage_limit: number | string | null;
  readonly usage_reset_period: UsageResetPeriod | null;
  readonly is_soft_limit: boolean;
  readonly static_value: string | null;
  readonly config_value?: unknown;
  readonly aggregation_mode?: 'additive' | 'parallel';
  /** Units in each window of time; null or absent without a quota. The other `grant_` fields belong to it. */
  readonly grant_quota?: string | null;
  readonly grant_measure?: 'quantity' | 'amount' | null;
  readonly grant_duration_unit?: QuotaUnit | null;
  readonly grant_duration_value?: number | null;
  readonly grant_allocation_behavior?: 'first_usage' | 'unit_start' | null;
  /** On a subscription's own entitlement: the entitlement that it replaces. */
  readonly parent_entitlement_id: string | null;
  readonly status: string;
}

/** An entitlement as it applies to one subscription. */
export interface EntitlementSource {
  readonly entitlement: EntitlementRecord;
  readonly subscription_id: string;
  /** The addon association's quantity; 1 for other sources. Two associations are two sources. */
  readonly quantity: string;
  /**
   * When the source is in force: dates of the addon association or the subscription's own entitlement.
   * Half-open.
   */
  readonly start_date: Instant | null;
  readonly end_date: Instant | null;
}

/** The combined entitlement of a customer or subscription to one feature, over all sources. */
export interface EffectiveEntitlement {
  readonly feature_id: string;
  readonly feature_type: EntitlementRecord['feature_type'];
  readonly is_enabled: boolean;
  /** Null means unlimited, not metered, or limited by quotas. */
  readonly usage_limit: DecimalType | null;
  readonly is_unlimited: boolean;
  /** Sources with a quota for windows of time. If there are any, they replace the limits (money 7.1). */
  readonly quotas: readonly EntitlementSource[];
  readonly is_soft_limit: boolean;
  readonly usage_reset_period: UsageResetPeriod | null;
  /** In the order of the sources, without duplicates. */
  readonly static_values: readonly string[];
  readonly config_values: readonly unknown[];
  readonly sources: readonly EntitlementSource[];
}

/** Sources in force at an instant, for access checks (money 6.7). */
export function sourcesAt(
  sources: readonly EntitlementSource[],
  at: Instant,
): readonly EntitlementSource[] {
  return sources.filter(({ start_date, end_date }) => isWithin(at, start_date ?? at, end_date));
}

/** Sources in force at any instant of a half-open window, a billed one or without an end (money 6.7). */
export function sourcesDuring(
  sources: readonly EntitlementSource[],
  window: { readonly start: Instant; readonly end: Instant | null },
): readonly EntitlementSource[] {
  return sources.filter(
    ({ start_date, end_date }) =>
      (start_date === null || window.end === null || start_date < window.end) &&
      (end_date === null || end_date > window.start),
  );
}

/**
 * The effective entitlements, one per feature, in the order in which features first occur
 * (billing 4.2 to 4.4, money 6.5, 6.8). A subscription's own entitlement replaces its
 * parent. Limits of all sources add up; an addon's limit counts once per unit of each association. One
 * unlimited source makes the sum unlimited. Disabled and unpublished sources are ignored.
 */
export function effectiveEntitlements(
  sources: readonly EntitlementSource[],
): readonly EffectiveEntitlement[] {
  const features = new Map<string, EntitlementSource[]>();
  for (const source of inForce(sources)) {
    const { feature_id } = source.entitlement;
    features.set(feature_id, [...(features.get(feature_id) ?? []), source]);
  }
  return [...features.values()].map(effective);
}

function inForce<Source extends EntitlementSource>(sources: readonly Source[]): readonly Source[] {
  const published = sources.filter(({ entitlement }) => entitlement.status === 'published');
  const replaced = new Set(
    published.map(({ subscription_id, entitlement }) =>
      JSON.stringify([subscription_id, entitlement.parent_entitlement_id]),
    ),
  );
  return published.filter(
    ({ subscription_id, entitlement }) =>
      entitlement.is_enabled && !replaced.has(JSON.stringify([subscription_id, entitlement.id])),
  );
}

function effective(sources: readonly EntitlementSource[]): EffectiveEntitlement {
  const records = sources.map((source) => source.entitlement);
  const { feature_id, feature_type } = records[0]!;
  const metered = feature_type === 'metered';
  const quotas = metered ? quotasAmong(sources) : [];
  const limit = metered && quotas.length === 0 ? summedLimit(sources) : null;
  return {
    feature_id,
    feature_type,
    is_enabled: true,
    usage_limit: limit,
    is_unlimited: metered && limit === null && quotas.length === 0,
    quotas,
    is_soft_limit: records.some((record) => record.is_soft_limit),
    usage_reset_period: metered ? prevailingReset(records) : null,
    static_values: unique(records.map((record) => record.static_value)),
    config_values: records
      .map((record) => record.config_value ?? null)
      .filter((value) => value !== null),
    sources,
  };
}

/**
 * The sources in force that have a quota for windows of time (money 7.1). None if another source is unlimited.
 * The result keeps the order and the identity of the sources.
 */
export const quotaSources = <Source extends EntitlementSource>(
  sources: readonly Source[],
): readonly Source[] => quotasAmong(inForce(sources));

/** The sources in force that have a quota, also if another source is unlimited. They keep order and identity. */
export const sourcesWithQuota = <Source extends EntitlementSource>(
  sources: readonly Source[],
): readonly Source[] => inForce(sources).filter(hasQuota);

const hasQuota = ({ entitlement }: EntitlementSource): boolean =>
  (entitlement.grant_quota ?? null) !== null;

function quotasAmong<Source extends EntitlementSource>(
  sources: readonly Source[],
): readonly Source[] {
  const isUnlimited = (source: Source) => !hasQuota(source) && limitOf(source) === null;
  return sources.some(isUnlimited) ? [] : sources.filter(hasQuota);
}

type GrantField = Extract<keyof EntitlementRecord, `grant_${string}`>;

/** The quota of a source; an addon's counts once per unit of its association (money 7.5). */
export function quotaOf({
  entitlement,
  quantity,
}: {
  readonly entitlement: Pick<EntitlementRecord, 'id' | 'aggregation_mode' | GrantField>;
  readonly quantity: string;
}): QuotaConfig {
  const { grant_quota, grant_duration_unit: unit } = entitlement;
  assert(grant_quota != null && unit != null, `${entitlement.id} has a quota`);
  return {
    entitlement_id: entitlement.id,
    grant_measure: entitlement.grant_measure ?? 'quantity',
    grant_duration_value: entitlement.grant_duration_value ?? 1,
    grant_duration_unit: unit,
    grant_quota: decimal(grant_quota).times(decimal(quantity)),
    grant_allocation_behavior: entitlement.grant_allocation_behavior ?? 'first_usage',
    aggregation_mode: entitlement.aggregation_mode ?? 'additive',
  };
}

function summedLimit(sources: readonly EntitlementSource[]): DecimalType | null {
  const limits = sources.map(limitOf);
  return limits.includes(null) ? null : sum(limits.filter((limit) => limit !== null));
}

function limitOf({ entitlement, quantity }: EntitlementSource): DecimalType | null {
  if (entitlement.usage_limit === null) return null;
  return new Decimal(entitlement.usage_limit).times(decimal(quantity));
}

/**
 * The limit of a stub under `create_prorations`: the sources' share of the period in whole units. A
 * subscription's own entitlement is an explicit value and is not scaled (billing 4, 10.1). Null means unlimited.
 */
export function stubLimit(
  entitlement: EffectiveEntitlement,
  share: TimeShare,
): LimitProration | null {
  if (entitlement.usage_limit === null) return null;
  const isOwn = (source: EntitlementSource) => source.entitlement.entity_type === 'SUBSCRIPTION';
  const own = sum(entitlement.sources.filter(isOwn).map((source) => limitOf(source)!));
  const whole = entitlement.usage_limit.minus(own);
  return { whole, own, share, limit: prorate(whole, share).toDecimalPlaces(0).plus(own) };
}

/** The most frequent reset period; on a tie the shortest (money 6.8). */
function prevailingReset(records: readonly EntitlementRecord[]): UsageResetPeriod | null {
  const count = (period: UsageResetPeriod) =>
    records.filter((record) => record.usage_reset_period === period).length;
  let best: UsageResetPeriod | null = null;
  for (const period of USAGE_RESET_PERIODS) {
    if (count(period) > (best === null ? 0 : count(best))) best = period;
  }
  return best;
}

/**
 * Refuses sources that would give one metered feature two reset periods: the allowance of a window
 * would be ambiguous (billing 4.4, money 6.11). Pending addons count too.
 */
export function refuseResetConflict(sources: readonly EntitlementSource[]): void {
  for (const { sources: of, feature_id } of effectiveEntitlements(sources)) {
    const periods = unique(
      of
        .filter(({ entitlement }) => entitlement.feature_type === 'metered')
        .map(({ entitlement }) => entitlement.usage_reset_period),
    );
    if (periods.length > 1) {
      throw invalidOperation(
        `Feature ${feature_id} would have the usage reset periods ${periods.join(' and ')}.`,
      );
    }
  }
}

/**
 * Refuses sources that would give one feature both a limit and a quota, or quotas that cannot be counted
 * together: 400 (money 7.2). Pending addons count too.
 */
export function refuseQuotaConflict(sources: readonly EntitlementSource[]): void {
  for (const { quotas, sources: all, feature_id } of effectiveEntitlements(sources)) {
    if (quotas.length === 0) continue;
    const refuse = (what: string) => invalidOperation(`Feature ${feature_id} would have ${what}.`);
    const configs = quotas.map(quotaOf);
    const modes = unique(configs.map((config) => config.aggregation_mode));
    if (quotas.length < all.length) throw refuse('a limit and a quota');
    if (modes.length > 1) throw refuse('additive and parallel quotas');
    const lengths = unique(
      configs.map((config) => `${config.grant_duration_value} ${config.grant_duration_unit}`),
    );
    if (modes[0] === 'additive' && lengths.length > 1)
      throw refuse(`additive quotas for windows of ${lengths.join(' and ')}`);
  }
}

const unique = <Value>(values: readonly (Value | null)[]): Value[] => [
  ...new Set(values.filter((value): value is Value => value !== null)),
];
