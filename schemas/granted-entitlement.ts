import { z } from 'zod';
import { GrantedFeature } from './granted-feature.ts';
import { commaSeparated } from './search.ts';
import { EmbeddedSubscription } from './subscription.ts';

export const CustomerEntitlements = z
  .object({
    customer_id: z.string(),
    /** The subscriptions considered: running now and, if the filter names subscriptions, named there. */
    subscriptions: z.array(EmbeddedSubscription),
    features: z.array(GrantedFeature),
  })
  .meta({ id: 'CustomerEntitlements' });
export type CustomerEntitlements = z.infer<typeof CustomerEntitlements>;

export const SubscriptionEntitlements = z
  .object({
    subscription_id: z.string(),
    plan_id: z.string(),
    features: z.array(GrantedFeature),
  })
  .meta({ id: 'SubscriptionEntitlements' });
export type SubscriptionEntitlements = z.infer<typeof SubscriptionEntitlements>;

export const CustomerEntitlementsQuery = z.object({
  feature_ids: commaSeparated,
  subscription_ids: commaSeparated,
});
export const SubscriptionEntitlementsQuery = z.object({ feature_ids: commaSeparated });
