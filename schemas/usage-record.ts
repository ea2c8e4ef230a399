import { z } from 'zod';
import { instant, recordFields } from './primitives.ts';
import { searchSchemas } from './search.ts';

/** Usage of one subscription in one period, as on its invoice. The id is the invoice's id. */
export const UsageRecord = z
  .object({
    ...recordFields,
    customer_id: z.string(),
    customer_external_id: z.string(),
    subscription_id: z.string(),
    plan_id: z.string(),
    currency: z.string(),
    /** Sum of the usage lines, before discounts and taxes. JSON numbers, as clients of this route expect. */
    amount: z.number(),
    quantity: z.number(),
    period_start: instant,
    period_end: instant,
    /** Usage is not reported to marketplaces. */
    synced: z.boolean(),
    syncs: z.record(z.string(), z.never()),
  })
  .meta({ id: 'UsageRecord' });
export type UsageRecord = z.infer<typeof UsageRecord>;

export const UsageRecordSearch = searchSchemas({
  fields: {
    currency: 'text',
    customer_id: 'text',
    subscription_id: 'text',
    plan_id: 'text',
    amount: 'number',
    quantity: 'number',
    period_start: 'time',
    period_end: 'time',
    created_at: 'time',
    updated_at: 'time',
  },
  filters: (kind) => ({
    customer_id: kind.text(),
    customer_external_id: kind.text(),
    subscription_id: kind.text(),
    plan_id: kind.text(),
    currency: kind.text(),
    /** Periods that begin at or after this instant. */
    period_start: kind.time(),
    /** Periods that end at or before this instant. */
    period_end: kind.time(),
    synced: kind.boolean(),
  }),
});
