import { z } from 'zod';
import { EmbeddedAddon } from './addon-record.ts';
import { Feature } from './feature.ts';
import { EmbeddedPlan } from './plan-record.ts';
import {
  decimalText,
  emptyWhenUnset,
  id,
  instant,
  integer,
  optionalId,
  optionalOneOf,
  optionalText,
  pairs,
  positiveDecimal,
  recordFields,
  textOrEmpty,
  time,
} from './primitives.ts';
import { searchSchemas } from './search.ts';
import {
  ENTITLEMENT_AGGREGATION_MODES,
  ENTITLEMENT_ENTITY_TYPES,
  FEATURE_TYPES,
  GRANT_ALLOCATION_BEHAVIORS,
  GRANT_DURATION_UNITS,
  GRANT_MEASURES,
  USAGE_RESET_PERIODS,
} from './words.ts';

/** Windows of some years at most. */
const GRANT_DURATION_MAX = 1000;

const writable = {
  is_enabled: z.boolean().nullish(),
  is_soft_limit: z.boolean().nullish(),
  /** Null means no limit, 0 means no usage. */
  usage_limit: z.int().min(0).nullish(),
  usage_reset_period: optionalOneOf(USAGE_RESET_PERIODS),
  static_value: optionalText(5000),
  config_value: pairs(z.unknown(), 256).nullish(),
  /** How quotas of several sources count together: `additive` in one window, `parallel` in one each. */
  aggregation_mode: optionalOneOf(ENTITLEMENT_AGGREGATION_MODES),
  /** Units that are included in each window of time; the other fields of the quota are needed beside it. */
  grant_quota: positiveDecimal.nullish(),
  grant_measure: optionalOneOf(GRANT_MEASURES),
  grant_duration_unit: optionalOneOf(GRANT_DURATION_UNITS),
  grant_duration_value: z.int().min(1).max(GRANT_DURATION_MAX).nullish(),
  /** Where a window begins: at the first usage (default), or at the start of its hour, day or week. */
  grant_allocation_behavior: optionalOneOf(GRANT_ALLOCATION_BEHAVIORS),
};

export const CreateEntitlementBody = z.object({
  ...writable,
  /** Shorthand for entity_type PLAN with this entity_id. */
  plan_id: optionalId,
  entity_type: optionalOneOf(ENTITLEMENT_ENTITY_TYPES),
  entity_id: optionalId,
  feature_id: id,
  feature_type: z.enum(FEATURE_TYPES),
  parent_entitlement_id: optionalId,
  display_order: integer.nullish(),
  start_date: time.nullish(),
  end_date: time.nullish(),
});
export type CreateEntitlementBody = z.output<typeof CreateEntitlementBody>;

export const CreateBulkEntitlementBody = z.object({
  items: z.array(CreateEntitlementBody).min(1, 'needs at least one entitlement').max(100),
});

export const UpdateEntitlementBody = z.object({
  ...writable,
  display_order: integer.nullish(),
  /** Clears every `grant_` field. */
  clear_grant_config: z.boolean().nullish(),
});
export type UpdateEntitlementBody = z.output<typeof UpdateEntitlementBody>;

export const entitlementFields = {
  ...recordFields,
  entity_type: z.enum(ENTITLEMENT_ENTITY_TYPES),
  entity_id: z.string(),
  feature_id: z.string(),
  feature_type: z.enum(FEATURE_TYPES),
  is_enabled: z.boolean(),
  is_soft_limit: z.boolean(),
  usage_limit: z.number().nullable(),
  usage_reset_period: emptyWhenUnset(z.enum(USAGE_RESET_PERIODS)),
  static_value: textOrEmpty,
  config_value: z.record(z.string(), z.unknown()).nullable(),
  aggregation_mode: z.enum(ENTITLEMENT_AGGREGATION_MODES),
  grant_quota: decimalText.nullable(),
  grant_measure: z.enum(GRANT_MEASURES).nullable(),
  grant_duration_unit: z.enum(GRANT_DURATION_UNITS).nullable(),
  grant_duration_value: z.int().nullable(),
  grant_allocation_behavior: z.enum(GRANT_ALLOCATION_BEHAVIORS).nullable(),
  parent_entitlement_id: z.string().nullable(),
  display_order: z.int(),
  start_date: instant.nullable(),
  end_date: instant.nullable(),
};

export const Entitlement = z
  .object({
    ...entitlementFields,
    /** The entity's id if the entity is a plan. */
    plan_id: z.string().nullable(),
    feature: Feature.nullable(),
    plan: EmbeddedPlan.nullable(),
    addon: EmbeddedAddon.nullable(),
  })
  .meta({ id: 'Entitlement' });
export type Entitlement = z.infer<typeof Entitlement>;

export const BulkEntitlements = z.object({ items: z.array(Entitlement) });

export const EntitlementSearch = searchSchemas({
  fields: {
    id: 'text',
    entity_type: 'text',
    entity_id: 'text',
    feature_id: 'text',
    feature_type: 'text',
    is_enabled: 'boolean',
    is_soft_limit: 'boolean',
    usage_limit: 'number',
    usage_reset_period: 'text',
    static_value: 'text',
    aggregation_mode: 'text',
    parent_entitlement_id: 'text',
    display_order: 'number',
    start_date: 'time',
    end_date: 'time',
    status: 'text',
    created_at: 'time',
    updated_at: 'time',
  },
  expand: ['features', 'plans', 'addons', 'meters'],
  filters: (kind) => ({
    entity_ids: kind.list(),
    entity_type: kind.oneOf(ENTITLEMENT_ENTITY_TYPES),
    plan_ids: kind.list(),
    feature_ids: kind.list(),
    feature_type: kind.oneOf(FEATURE_TYPES),
    is_enabled: kind.boolean(),
    has_grant_config: kind.boolean(),
  }),
});
