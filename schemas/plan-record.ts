import { z } from 'zod';
import { recordFields, textOrEmpty } from './primitives.ts';

export const planFields = {
  ...recordFields,
  name: z.string(),
  description: z.string().nullable(),
  lookup_key: textOrEmpty,
  display_order: z.int(),
  metadata: z.record(z.string(), z.string()),
};

/** A plan as it stands inside another record: what belongs to it is not repeated there. */
export const EmbeddedPlan = z
  .object({
    ...planFields,
    prices: z.null(),
    entitlements: z.null(),
    credit_grants: z.null(),
    price_sync_status: z.null(),
  })
  .meta({ id: 'EmbeddedPlan' });
export type EmbeddedPlan = z.infer<typeof EmbeddedPlan>;
