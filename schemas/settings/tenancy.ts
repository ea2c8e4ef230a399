import { z } from 'zod';
import { onlyEmpty } from '../not-offered.ts';
import { name } from '../primitives.ts';

/** Maximum number of environments of each type and of users of a tenant. */
export const TenantConfig = z.object({
  production: z.int32().min(0).optional(),
  development: z.int32().min(0).optional(),
  max_users: z.int32().min(1).optional(),
});
export const TENANT_CONFIG_DEFAULT = { production: 0, development: 2, max_users: 10 };
export type TenantLimits = Readonly<Record<keyof typeof TENANT_CONFIG_DEFAULT, number>>;

/** The customers whose events an environment wants: ingest leaves out the events of all others (metering 2). */
export const EventIngestionFilter = z
  .object({
    enabled: z.boolean().optional(),
    allowed_external_customer_ids: z.array(name()).max(100_000).optional(),
  })
  .refine((value) => !value.enabled || (value.allowed_external_customer_ids ?? []).length > 0, {
    path: ['allowed_external_customer_ids'],
    message: 'is needed when enabled',
  });
export const EVENT_INGESTION_FILTER_DEFAULT = { enabled: false, allowed_external_customer_ids: [] };

export const CustomAnalyticsConfig = z.object({
  rules: z
    .array(
      z.object({
        id: z.literal('revenue-per-minute'),
        target_type: z.enum(['feature', 'meter', 'event_name']),
        target_id: name(),
      }),
    )
    .max(100)
    .refine((rules) => rules.length === 0, onlyEmpty('rules of analytics'))
    .optional(),
});
export const CUSTOM_ANALYTICS_CONFIG_DEFAULT = { rules: [] };
