import * as z from 'zod';
import { CustomerUsage } from './customer-usage.ts';
import { Subscription } from './subscription-answers.ts';

/** The tenant as a customer of its operator. Clients of a hosted service read it. */
export const TenantBilling = z
  .object({ subscriptions: z.array(Subscription), usage: CustomerUsage })
  .meta({ id: 'TenantBilling' });
