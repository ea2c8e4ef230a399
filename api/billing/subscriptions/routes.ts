import { IdParams } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import { Subscription } from '../../../schemas/subscription-answers.ts';
import {
  ActivateSubscriptionBody,
  CreateSubscriptionBody,
} from '../../../schemas/subscription-requests.ts';
import { SubscriptionSearch } from '../../../schemas/subscription.ts';
import { route } from '../../conventions/route.ts';
import { activateSubscription } from './activate-subscription.ts';
import { createSubscription } from './create-subscription.ts';
import { createdSubscription, listSubscriptions, readSubscription } from './read-subscriptions.ts';

export const subscriptionRoutes = [
  route({
    method: 'POST',
    path: '/subscriptions',
    summary: 'Create a subscription',
    permission: 'subscription:write',
    body: CreateSubscriptionBody,
    status: 201,
    answer: Subscription,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const id = await createSubscription(tx, call.deps, call, call.body);
        return await createdSubscription(tx, call.scope, id);
      }),
  }),
  route({
    method: 'GET',
    path: '/subscriptions',
    summary: 'List subscriptions',
    permission: 'subscription:read',
    query: SubscriptionSearch.query,
    status: 200,
    answer: pageOf(Subscription),
    handler: ({ deps, scope, query }) => listSubscriptions(deps, scope, query),
  }),
  route({
    method: 'POST',
    path: '/subscriptions/search',
    summary: 'Search subscriptions',
    permission: 'subscription:read',
    body: SubscriptionSearch.body,
    status: 200,
    answer: pageOf(Subscription),
    handler: ({ deps, scope, body }) => listSubscriptions(deps, scope, body),
  }),
  route({
    method: 'GET',
    path: '/subscriptions/{id}',
    summary: 'Get a subscription',
    permission: 'subscription:read',
    params: IdParams,
    status: 200,
    answer: Subscription,
    handler: ({ deps, scope, params }) => readSubscription(deps, scope, params.id),
  }),
  route({
    method: 'POST',
    path: '/subscriptions/{id}/activate',
    summary: 'Activate a draft subscription',
    permission: 'subscription:write',
    params: IdParams,
    body: ActivateSubscriptionBody,
    status: 200,
    answer: Subscription,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        await activateSubscription(tx, call.deps, call, call.params.id, call.body);
        return await createdSubscription(tx, call.scope, call.params.id);
      }),
  }),
];
