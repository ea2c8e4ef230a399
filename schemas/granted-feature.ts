import { z } from 'zod';
import { Feature } from './feature.ts';
import { decimalText, emptyWhenUnset, textOrEmpty } from './primitives.ts';
import {
  ENTITLEMENT_AGGREGATION_MODES,
  GRANT_ALLOCATION_BEHAVIORS,
  GRANT_DURATION_UNITS,
  GRANT_MEASURES,
  USAGE_RESET_PERIODS,
} from './words.ts';

/** One source of an entitlement. */
export const GrantedSource = z
  .object({
    subscription_id: z.string(),
    entitlement_id: z.string(),
    entity_id: z.string(),
    entity_type: z.enum(['plan', 'addon', 'subscription']),
    /** Name of the plan or addon; empty when the subscription itself grants it. */
    entity_name: z.string(),
    quantity: z.number(),
    is_enabled: z.boolean(),
    usage_limit: z.number().nullable(),
    usage_reset_period: emptyWhenUnset(z.enum(USAGE_RESET_PERIODS)),
    static_value: textOrEmpty,
    config_value: z.unknown(),
  })
  .meta({ id: 'GrantedSource' });
export type GrantedSource = z.infer<typeof GrantedSource>;

/** The quota of one source; that of an addon counts once per unit of it. */
export const GrantedBucket = z
  .object({
    entitlement_id: z.string(),
    /** The plan, addon or subscription of the source. */
    source_entity_id: z.string(),
    grant_quota: decimalText,
    grant_measure: z.enum(GRANT_MEASURES),
    grant_duration_unit: z.enum(GRANT_DURATION_UNITS),
    grant_duration_value: z.int(),
    grant_allocation_behavior: z.enum(GRANT_ALLOCATION_BEHAVIORS),
    /** Always null: a quota has no limit beside it. */
    usage_limit: z.null(),
  })
  .meta({ id: 'GrantedBucket' });

/** The combined entitlement of all sources of a feature. */
export const GrantedEntitlement = z
  .object({
    is_enabled: z.boolean(),
    is_soft_limit: z.boolean(),
    /** Null means no limit, or a feature that is not metered. */
    usage_limit: z.number().nullable(),
    usage_reset_period: z.enum(USAGE_RESET_PERIODS).nullable(),
    static_values: z.array(z.string()),
    config_values: z.array(z.unknown()),
    /** Null for a feature that is not metered. */
    aggregation_mode: z.enum(ENTITLEMENT_AGGREGATION_MODES).nullable(),
    /** Quotas for windows of time, one for each source that has one; empty otherwise. */
    buckets: z.array(GrantedBucket),
  })
  .meta({ id: 'GrantedEntitlement' });

export const GrantedFeature = z
  .object({
    feature: Feature,
    entitlement: GrantedEntitlement,
    sources: z.array(GrantedSource),
  })
  .meta({ id: 'GrantedFeature' });
export type GrantedFeature = z.infer<typeof GrantedFeature>;
