import { CreditGrantApplication } from '../../../schemas/customer-view.ts';
import {
  SubscriptionEntitlements,
  SubscriptionEntitlementsQuery,
} from '../../../schemas/granted-entitlement.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { expandQuery, pageOf, PageQuery } from '../../../schemas/search.ts';
import { SubscriptionV2 } from '../../../schemas/subscription-answers.ts';
import { SUBSCRIPTION_EXPANDS } from '../../../schemas/subscription.ts';
import { upcomingApplications } from '../../catalog/credit-grants/upcoming-applications.ts';
import { subscriptionEntitlements } from '../granted-entitlements/granted-features.ts';
import { route } from '../../conventions/route.ts';
import { pageOfList } from '../../conventions/page-of-list.ts';
import { readSubscriptionV2 } from './read-subscriptions.ts';
import { getSubscription } from '../records/subscription-repository.ts';

/** Views of one subscription. */
export const subscriptionViewRoutes = [
  route({
    method: 'GET',
    path: '/subscriptions/{id}/v2',
    summary: 'Get a subscription with only the requested embedded records',
    permission: 'subscription:read',
    params: IdParams,
    query: expandQuery(SUBSCRIPTION_EXPANDS),
    status: 200,
    answer: SubscriptionV2,
    handler: ({ deps, scope, params, query }) =>
      readSubscriptionV2(deps, scope, params.id, query.search.expand),
  }),
  route({
    method: 'GET',
    path: '/subscriptions/{id}/entitlements',
    summary: 'Get the current entitlements of a subscription',
    permission: 'subscription:read',
    params: IdParams,
    query: SubscriptionEntitlementsQuery,
    status: 200,
    answer: SubscriptionEntitlements,
    handler: ({ deps, scope, params, query }) =>
      subscriptionEntitlements(deps, scope, params.id, query),
  }),
  route({
    method: 'GET',
    path: '/subscriptions/{id}/grants/upcoming',
    summary: 'List upcoming credits of a subscription’s grants, soonest first',
    permission: 'subscription:read',
    params: IdParams,
    query: PageQuery,
    status: 200,
    answer: pageOf(CreditGrantApplication),
    async handler({ deps, scope, params, query }) {
      const { id } = await getSubscription(deps.pool, scope, params.id);
      return pageOfList(await upcomingApplications(deps, scope, { subscription_id: id }), query);
    },
  }),
];
