import { z } from 'zod';
import { instant } from './primitives.ts';

/** Why something cannot be billed. */
export const BillingRefusal = z
  .object({
    code: z.string(),
    message: z.string(),
    details: z.array(z.object({ path: z.string(), code: z.string(), message: z.string() })),
    /** First refusal for this reason. */
    since: instant,
    /** Number of attempts, for any reason. */
    attempts: z.int(),
  })
  .meta({ id: 'BillingRefusal' });
export type BillingRefusal = z.infer<typeof BillingRefusal>;
