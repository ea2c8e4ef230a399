import { z } from 'zod';
import { recordFields, textOrEmpty } from './primitives.ts';

export const planFields = {
  ...recordFields,
  name: z.string(),
  description: textOrEmpty,
  lookup_key: textOrEmpty,
  display_order: z.int(),
  metadata: z.record(z.string(), z.string()),
};

/** A plan embedded in another record, without its own children. */
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
