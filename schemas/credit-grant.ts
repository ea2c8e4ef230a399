import { z } from 'zod';
import { notOffered } from './not-offered.ts';
import {
  decimalText,
  instant,
  integer,
  name,
  optionalId,
  optionalMetadata,
  optionalOneOf,
  positiveDecimal,
  recordFields,
  time,
} from './primitives.ts';
import { RECORD_SEARCH_FIELDS } from './record-search.ts';
import { searchSchemas } from './search.ts';
import {
  CREDIT_GRANT_CADENCES,
  CREDIT_GRANT_EXPIRATION_TYPES,
  CREDIT_GRANT_EXPIRATION_UNITS,
  CREDIT_GRANT_PERIODS,
  CREDIT_GRANT_SCOPES,
} from './words.ts';

const terms = {
  name: name(),
  credits: positiveDecimal,
  conversion_rate: positiveDecimal.nullish(),
  topup_conversion_rate: positiveDecimal.nullish(),
  cadence: z.enum(CREDIT_GRANT_CADENCES),
  /**
   * Only for a recurring grant; ignored for others, as is a duration that the expiration type does not use.
   */
  period: optionalOneOf(CREDIT_GRANT_PERIODS),
  /** Default 1 for a recurring grant. */
  period_count: integer.nullish(),
  expiration_type: z.enum(CREDIT_GRANT_EXPIRATION_TYPES),
  expiration_duration: integer.nullish(),
  expiration_duration_unit: optionalOneOf(CREDIT_GRANT_EXPIRATION_UNITS),
  priority: integer.nullish(),
  credit_grant_anchor: time.nullish(),
  start_date: time.nullish(),
  end_date: time.nullish(),
  metadata: optionalMetadata,
};

export const CreateCreditGrantBody = z.object({
  ...terms,
  scope: z.enum(CREDIT_GRANT_SCOPES),
  plan_id: optionalId,
  addon_id: optionalId,
  subscription_id: optionalId,
});
export type CreateCreditGrantBody = z.output<typeof CreateCreditGrantBody>;

/**
 * A grant of a subscription in the same request. It starts with the subscription unless it has its own dates.
 */
export const SubscriptionGrantRequest = z
  .object({
    ...terms,
    /** Default: NEVER. */
    expiration_type: optionalOneOf(CREDIT_GRANT_EXPIRATION_TYPES),
    scope: z.literal('SUBSCRIPTION'),
    /** Only the plan of the subscription. */
    plan_id: optionalId,
    subscription_id: notOffered('the id of a new subscription'),
  })
  .meta({ id: 'SubscriptionGrantRequest' });
export type SubscriptionGrantRequest = z.output<typeof SubscriptionGrantRequest>;

export const UpdateCreditGrantBody = z.object({
  name: name().optional(),
  metadata: optionalMetadata,
  end_date: time.nullish(),
});
export type UpdateCreditGrantBody = z.output<typeof UpdateCreditGrantBody>;

/** When a subscription's grant ends; now when absent. */
export const DeleteCreditGrantBody = z.object({ effective_date: time.nullish() });

export const CreditGrant = z
  .object({
    ...recordFields,
    name: z.string(),
    scope: z.enum(CREDIT_GRANT_SCOPES),
    plan_id: z.string().nullable(),
    addon_id: z.string().nullable(),
    subscription_id: z.string().nullable(),
    /** The instance of an addon that brought the grant to its subscription. */
    addon_association_id: z.string().nullable(),
    credits: decimalText,
    conversion_rate: decimalText.nullable(),
    topup_conversion_rate: decimalText.nullable(),
    cadence: z.enum(CREDIT_GRANT_CADENCES),
    period: z.enum(CREDIT_GRANT_PERIODS).nullable(),
    period_count: z.int().nullable(),
    expiration_type: z.enum(CREDIT_GRANT_EXPIRATION_TYPES),
    expiration_duration: z.int().nullable(),
    expiration_duration_unit: z.enum(CREDIT_GRANT_EXPIRATION_UNITS).nullable(),
    priority: z.int().nullable(),
    credit_grant_anchor: instant.nullable(),
    start_date: instant.nullable(),
    end_date: instant.nullable(),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'CreditGrant' });
export type CreditGrant = z.infer<typeof CreditGrant>;

export const CreditGrantSearch = searchSchemas({
  fields: {
    name: 'text',
    scope: 'text',
    cadence: 'text',
    priority: 'number',
    credits: 'number',
    conversion_rate: 'number',
    topup_conversion_rate: 'number',
    period: 'text',
    period_count: 'number',
    expiration_type: 'text',
    plan_id: 'text',
    addon_id: 'text',
    subscription_id: 'text',
    start_date: 'time',
    end_date: 'time',
    ...RECORD_SEARCH_FIELDS,
  },
  filters: (kind) => ({
    credit_grant_ids: kind.list(),
    plan_ids: kind.list(),
    addon_ids: kind.list(),
    subscription_ids: kind.list(),
    scope: kind.oneOf(CREDIT_GRANT_SCOPES),
  }),
});
