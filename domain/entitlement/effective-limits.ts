import { invalidOperation } from '../errors.ts';
import { decimal, Decimal, sum, type Decimal as DecimalType } from '../money.ts';
import { prorate, type TimeShare } from '../pricing/proration.ts';
import { isWithin, type Instant, type Period } from '../time/instant.ts';

export type UsageResetPeriod = (typeof USAGE_RESET_PERIODS)[number];
/** Shortest first: a tie between sources goes to the shortest. */
export const USAGE_RESET_PERIODS = [
  'DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL', 'NEVER',
] as const; // prettier-ignore

/** What the rules read of a stored entitlement. */
export interface EntitlementRecord {
  readonly id: string;
  readonly entity_type: string;
  readonly entity_id: string;
  readonly feature_id: string;
  readonly feature_type: 'metered' | 'boolean' | 'static' | 'config';
  readonly is_enabled: boolean;
  /** Whole units; null = unlimited, 0 = nothing is free. Metered only. */
  readonly usage_limit: number | string | null;
  readonly usage_reset_period: UsageResetPeriod | null;
  readonly is_soft_limit: boolean;
  readonly static_value: string | null;
  readonly config_value?: unknown;
  /** On a subscription's own entitlement: the one it replaces. */
  readonly parent_entitlement_id: string | null;
  readonly status: string;
}

/** An entitlement as one subscription has it. */
export interface EntitlementSource {
  readonly entitlement: EntitlementRecord;
  readonly subscription_id: string;
  /** The addon association's quantity; 1 for others. Two associations are two sources. */
  readonly quantity: string;
  /** When the source holds: of the addon association or the subscription's own entitlement. Half-open. */
  readonly start_date: Instant | null;
  readonly end_date: Instant | null;
}

/** What a customer or subscription is entitled to of one feature, over all its sources. */
export interface EffectiveEntitlement {
  readonly feature_id: string;
  readonly feature_type: EntitlementRecord['feature_type'];
  readonly is_enabled: boolean;
  /** Null = unlimited, or not metered. */
  readonly usage_limit: DecimalType | null;
  readonly is_unlimited: boolean;
  readonly is_soft_limit: boolean;
  readonly usage_reset_period: UsageResetPeriod | null;
  /** In the order of the sources, each once. */
  readonly static_values: readonly string[];
  readonly config_values: readonly unknown[];
  readonly sources: readonly EntitlementSource[];
}

/** Sources that hold at an instant: what an access check asks (money 6.7). */
export function sourcesAt(
  sources: readonly EntitlementSource[],
  at: Instant,
): readonly EntitlementSource[] {
  return sources.filter(({ start_date, end_date }) => isWithin(at, start_date ?? at, end_date));
}

/** Sources that hold at any moment of a billed window (money 6.7). */
export function sourcesDuring(
  sources: readonly EntitlementSource[],
  window: Period,
): readonly EntitlementSource[] {
  return sources.filter(
    ({ start_date, end_date }) =>
      (start_date === null || start_date < window.end) &&
      (end_date === null || end_date > window.start),
  );
}

/**
 * The effective entitlements, one for each feature, in the order in which features first occur
 * (billing 4.2 to 4.4, money 6.5, 6.8). A subscription's own entitlement replaces its
 * parent; limits of all sources add up, an addon's once for each unit of each association; one unlimited
 * source makes the sum unlimited; disabled and unpublished ones do not exist.
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

function inForce(sources: readonly EntitlementSource[]): readonly EntitlementSource[] {
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
  const limit = metered ? summedLimit(sources) : null;
  return {
    feature_id,
    feature_type,
    is_enabled: true,
    usage_limit: limit,
    is_unlimited: metered && limit === null,
    is_soft_limit: records.some((record) => record.is_soft_limit),
    usage_reset_period: metered ? prevailingReset(records) : null,
    static_values: unique(records.map((record) => record.static_value)),
    config_values: records
      .map((record) => record.config_value ?? null)
      .filter((value) => value !== null),
    sources,
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
 * subscription's own entitlement is the value that was asked for and is not scaled (billing 4, 10.1).
 */
export function stubLimit(entitlement: EffectiveEntitlement, share: TimeShare): DecimalType | null {
  if (entitlement.usage_limit === null) return null;
  const isOwn = (source: EntitlementSource) => source.entitlement.entity_type === 'SUBSCRIPTION';
  const own = sum(entitlement.sources.filter(isOwn).map((source) => limitOf(source)!));
  const granted = entitlement.usage_limit.minus(own);
  return prorate(granted, share).toDecimalPlaces(0).plus(own);
}

/** The most frequent reset period, a tie to the shortest (money 6.8). */
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
 * Refuses sources that would put two reset periods on one metered feature: the allowance of a window
 * could not be told (billing 4.4, money 6.11). Pending addons count as well.
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

const unique = <Value>(values: readonly (Value | null)[]): Value[] => [
  ...new Set(values.filter((value): value is Value => value !== null)),
];
