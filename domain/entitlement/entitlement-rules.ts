import { invalidField } from '../errors.ts';
import type { AggregationType } from '../metering/usage.ts';
import type { BucketSize } from '../time/usage-windows.ts';
import { quotaOf } from './effective-limits.ts';
import { validateQuotas, type QuotaConfig, type QuotaUnit } from './quota-windows.ts';

export type FeatureType = 'metered' | 'boolean' | 'static' | 'config';

/** The complete terms of an entitlement. Amounts are decimal text. */
export interface EntitlementTerms {
  readonly is_enabled: boolean;
  readonly is_soft_limit: boolean;
  /** Null means no limit, 0 means no usage (money 6.3). */
  readonly usage_limit: number | null;
  readonly usage_reset_period: string | null;
  readonly static_value: string | null;
  readonly config_value: object | null;
  readonly aggregation_mode: 'additive' | 'parallel';
  readonly grant_quota: string | null;
  readonly grant_measure: 'quantity' | 'amount' | null;
  readonly grant_duration_unit: QuotaUnit | null;
  readonly grant_duration_value: number | null;
  readonly grant_allocation_behavior: 'first_usage' | 'unit_start' | null;
  readonly start_date: string | null;
  readonly end_date: string | null;
}

export interface EntitledFeature {
  readonly type: FeatureType;
  /** Only for a metered feature. */
  readonly aggregation: {
    readonly type: AggregationType;
    readonly bucket_size: BucketSize | null;
  } | null;
  /** Whether the meter counts from its first event on. */
  readonly lifetime: boolean;
}

/**
 * Refuses an entitlement with fields that do not fit its feature, or whose quota does not fit `siblings`, the
 * other quotas of its family on the meter: 400 `validation_error` at the field (money 6.2, 6.4, 7.1, 7.2).
 */
export function assertEntitlement(
  terms: EntitlementTerms & { readonly id: string },
  feature: EntitledFeature,
  siblings: readonly QuotaConfig[],
): void {
  if (feature.type === 'static' && !terms.static_value)
    throw invalidField('static_value', 'is required for a static feature');
  if (feature.type !== 'config' && terms.config_value !== null)
    throw invalidField('config_value', 'is for config features only');
  if (terms.start_date !== null && terms.end_date !== null && terms.start_date >= terms.end_date)
    throw invalidField('end_date', 'must be after start_date');
  const meter = feature.aggregation;
  if (meter !== null && meter.type === 'MAX' && meter.bucket_size !== null)
    throw invalidField(
      'feature_id',
      'a meter of MAX in buckets has no total that could be limited',
    );
  if (!assertGrantConfig(terms, feature)) return;
  const own = quotaOf({ entitlement: { ...terms, id: terms.id }, quantity: '1' });
  validateQuotas([own, ...siblings], {
    aggregation: meter!.type,
    bucketed: meter!.bucket_size !== null,
    lifetime: feature.lifetime,
  });
}

/** The values of fields that a request does not set. Only a switch is off by default. */
export const entitlementDefaults = (type: FeatureType) => ({
  is_enabled: type !== 'boolean',
  is_soft_limit: false,
  aggregation_mode: 'additive' as const,
  display_order: 0,
});

/**
 * Fields without meaning for a feature of this type, with the values stored for them (money 6.2).
 */
export const fieldsOfOtherTypes = (type: FeatureType) => ({
  ...(type === 'metered'
    ? {}
    : { usage_limit: null, usage_reset_period: null, is_soft_limit: false }),
  ...(type === 'static' ? {} : { static_value: null }),
});

/** The fields of other types that a request sets. They have no effect (money 6.2). */
export function fieldsWithoutEffect(
  type: FeatureType,
  sent: Readonly<Record<string, unknown>>,
): string[] {
  return Object.keys(fieldsOfOtherTypes(type)).filter((field) => {
    const value = sent[field] ?? null;
    return value !== null && value !== '' && value !== false;
  });
}

/** Defaults of a quota configuration: one whole period, starting at the first usage. */
export function grantDefaults<Behavior extends string>(terms: {
  readonly grant_quota: string | null;
  readonly grant_duration_unit: string | null;
  readonly grant_duration_value: number | null;
  readonly grant_allocation_behavior: Behavior | 'first_usage' | null;
}) {
  const period = terms.grant_duration_unit === 'subscription_period' ? 1 : null;
  const behavior = terms.grant_quota === null ? null : ('first_usage' as const);
  return {
    grant_duration_value: terms.grant_duration_value ?? period,
    grant_allocation_behavior: terms.grant_allocation_behavior ?? behavior,
  };
}

const GRANT_FIELDS = [
  'grant_quota',
  'grant_measure',
  'grant_duration_unit',
  'grant_duration_value',
] as const;

/**
 * Requires all fields of a time-boxed quota or none, a metered feature, and no limit beside the quota. Whether
 * there is one.
 */
function assertGrantConfig(terms: EntitlementTerms, feature: EntitledFeature): boolean {
  const given = GRANT_FIELDS.filter((field) => terms[field] !== null);
  if (given.length === 0) {
    if (terms.grant_allocation_behavior !== null)
      throw invalidField('grant_quota', 'is required with grant_allocation_behavior');
    if (terms.aggregation_mode === 'parallel')
      throw invalidField('aggregation_mode', 'must be additive without a quota: limits add up');
    return false;
  }
  if (feature.type !== 'metered') throw invalidField(given[0]!, 'is for metered features only');
  const missing = GRANT_FIELDS.find((field) => terms[field] === null);
  if (missing !== undefined) throw invalidField(missing, `is required with ${given[0]}`);
  for (const field of ['usage_limit', 'usage_reset_period'] as const)
    if (terms[field] !== null) throw invalidField(field, 'has no effect with grant_quota');
  return true;
}
