import { z } from 'zod';
import { GrantedSource } from './granted-feature.ts';
import { Feature } from './feature.ts';
import { decimalText, instant, text } from './primitives.ts';
import { Pagination } from './search.ts';

const commaList = z.preprocess(
  (value) =>
    value === undefined
      ? undefined
      : (Array.isArray(value) ? value : [value])
          .flatMap((part) => String(part).split(','))
          .map((part) => part.trim())
          .filter((part) => part !== ''),
  z.array(text()).max(1000).optional(),
);

const filters = {
  feature_ids: commaList,
  feature_lookup_keys: commaList,
  subscription_ids: commaList,
};

/** One of the two identifies the customer; `customer_lookup_key` is the external id. */
export const CustomerUsageQuery = z.object({
  customer_id: text().optional(),
  customer_lookup_key: text().optional(),
  ...filters,
});
export const OneCustomerUsageQuery = z.object(filters);
export type CustomerUsageFilter = z.output<typeof OneCustomerUsageQuery>;

/** The current state of a quota for windows of time. Amounts are decimal text. */
export const QuotaSlot = z
  .object({
    subscription_id: z.string(),
    /** Of quotas that add up, the lowest id. */
    entitlement_id: z.string(),
    quota: decimalText,
    used: decimalText,
    /** Never below 0. */
    left: decimalText,
    status: z.enum(['active', 'exhausted']),
    /** Null while no window is open: the next usage opens one. */
    window_start: instant.nullable(),
    window_end: instant.nullable(),
  })
  .meta({ id: 'QuotaSlot' });
export type QuotaSlot = z.infer<typeof QuotaSlot>;

export const FeatureUsage = z
  .object({
    feature: Feature,
    /** Null means no limit. With quotas, this and the next figures are those of the slot with the highest use. */
    total_limit: z.number().nullable(),
    is_unlimited: z.boolean(),
    /** Usage of the running reset window, or of the window of the quota. */
    current_usage: decimalText,
    /** Percent of the limit, two decimals. */
    usage_percent: decimalText,
    is_enabled: z.boolean(),
    is_soft_limit: z.boolean(),
    /** Null when the allowance never resets. */
    next_usage_reset_at: instant.nullable(),
    sources: z.array(GrantedSource),
    /** Quotas for windows of time; empty for a feature with a limit or without one. */
    quotas: z.array(QuotaSlot),
  })
  .meta({ id: 'FeatureUsage' });
export type FeatureUsage = z.infer<typeof FeatureUsage>;

export const CustomerUsage = z
  .object({
    customer_id: z.string(),
    features: z.array(FeatureUsage),
    /** Always null: features reset at different times, so there is no common period. */
    period: z.null(),
    pagination: Pagination.nullable(),
  })
  .meta({ id: 'CustomerUsage' });
export type CustomerUsage = z.infer<typeof CustomerUsage>;
