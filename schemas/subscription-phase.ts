import { z } from 'zod';
import { instant, recordFields } from './primitives.ts';

/** A phase of a subscription: a stretch of time with line items of its own. */
export const SubscriptionPhase = z
  .object({
    ...recordFields,
    subscription_id: z.string(),
    start_date: instant,
    end_date: instant.nullable(),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'SubscriptionPhase' });
export type SubscriptionPhase = z.infer<typeof SubscriptionPhase>;
