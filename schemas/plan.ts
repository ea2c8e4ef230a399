import { z } from 'zod';
import { CreditGrant } from './credit-grant.ts';
import { Entitlement } from './entitlement.ts';
import { planFields } from './plan-record.ts';
import { Price } from './price.ts';
import { integer, name, optionalLookupKey, optionalMetadata, optionalText } from './primitives.ts';
import { RECORD_SEARCH_FIELDS } from './record-search.ts';
import { expandQuery, pageOf, searchSchemas } from './search.ts';

const writable = {
  description: optionalText(5000),
  display_order: integer.nullish(),
  lookup_key: optionalLookupKey,
  metadata: optionalMetadata,
};

export const CreatePlanBody = z.object({ ...writable, name: name() });
export type CreatePlanBody = z.output<typeof CreatePlanBody>;

export const UpdatePlanBody = z.object({ ...writable, name: name().optional() });
export type UpdatePlanBody = z.output<typeof UpdatePlanBody>;

export const ClonePlanBody = z.object({ ...writable, name: name(), lookup_key: name() });
export type ClonePlanBody = z.output<typeof ClonePlanBody>;

/** Number of subscriptions of the plan that do not yet have its current prices. */
export const PriceSyncStatus = z
  .object({ unsynced_subscription_count: z.int() })
  .meta({ id: 'PriceSyncStatus' });

export const Plan = z
  .object({
    ...planFields,
    /** Null unless the route or `expand` includes the children. */
    prices: z.array(Price).nullable(),
    entitlements: z.array(Entitlement).nullable(),
    credit_grants: z.array(CreditGrant).nullable(),
    price_sync_status: PriceSyncStatus.nullable(),
  })
  .meta({ id: 'Plan' });
export type Plan = z.infer<typeof Plan>;

/**
 * The entitlements of a plan as a list, together with the plan's own keys: older clients read a plan here.
 */
export const PlanEntitlements = z.object({ ...Plan.shape, ...pageOf(Entitlement).shape });

export const PLAN_EXPANSIONS = [
  'prices', 'meters', 'entitlements', 'features', 'credit_grant', 'credit_grants', 'price_sync_status',
] as const; // prettier-ignore

/** The sync is complete when the answer is sent; there is no run to read. */
export const PriceSync = z
  .object({
    message: z.string(),
    /** Both are the task's id. */
    workflow_id: z.string(),
    run_id: z.string(),
  })
  .meta({ id: 'PriceSync' });

export const PlanSearch = searchSchemas({
  fields: {
    name: 'text',
    lookup_key: 'text',
    description: 'text',
    display_order: 'number',
    ...RECORD_SEARCH_FIELDS,
  },
  expand: PLAN_EXPANSIONS,
  filters: (kind) => ({
    plan_ids: kind.list(),
    lookup_key: kind.text(),
    lookup_keys: kind.list(),
    metadata: kind.metadata(),
  }),
});

/** A single plan always embeds everything except `price_sync_status`. */
export const PlanQuery = expandQuery(PLAN_EXPANSIONS);
