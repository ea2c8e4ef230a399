import { z } from 'zod';
import { instant } from './primitives.ts';

/** Why something cannot be billed. */
export const BillingRefusal = z
  .object({
    code: z.string(),
    message: z.string(),
    details: z.array(z.object({ path: z.string(), code: z.string(), message: z.string() })),
    /** When it was refused first for this reason. */
    since: instant,
    /** How often it was tried, whatever the reason was. */
    attempts: z.int(),
  })
  .meta({ id: 'BillingRefusal' });
export type BillingRefusal = z.infer<typeof BillingRefusal>;
