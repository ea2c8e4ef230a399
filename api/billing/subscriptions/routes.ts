import { IdParams, Message } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import { Subscription } from '../../../schemas/subscription-answers.ts';
import {
  ActivateSubscriptionBody,
  CreateSubscriptionBody,
} from '../../../schemas/subscription-requests.ts';
import { SubscriptionSearch } from '../../../schemas/subscription.ts';
import { runCommand } from '../../conventions/command.ts';
import { route } from '../../conventions/route.ts';
import { runGatedCommand, withCheckout } from '../records/gated-command.ts';
import { collectNow } from '../payments/collect-invoice.ts';
import { activateSubscription } from './activate-subscription.ts';
import { collectOpening } from './collect-opening.ts';
import { createSubscription } from './create-subscription.ts';
import { discardUnwanted } from './discard-draft.ts';
import { createdSubscription, listSubscriptions, readSubscription } from './read-subscriptions.ts';

export const subscriptionRoutes = [
  route({
    method: 'POST',
    path: '/subscriptions',
    summary: 'Create a subscription',
    permission: 'subscription:write',
    ownsTransactions: true,
    body: CreateSubscriptionBody,
    status: 201,
    answer: Subscription,
    async handler(call) {
      const { deps } = call;
      const created = await runGatedCommand(
        deps,
        call,
        'subscription',
        withCheckout('/subscriptions', call.body),
        ({ checkout_session_id }) => checkout_session_id,
        () => Promise.resolve((tx) => createSubscription(tx, deps, call, call.body)),
      );
      if (created.checkout_session_id === null) await collectOpening(deps, call, created.id);
      const session = created.checkout_session_id;
      const offered = session === null ? null : await deps.checkoutGates.offer(deps, call, session);
      // Read afterwards: the charge of a saved method activates the subscription.
      const subscription = await createdSubscription(deps.pool, call.scope, created.id);
      return offered === null ? subscription : { ...subscription, checkout_session: offered };
    },
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
    ownsTransactions: true,
    params: IdParams,
    body: ActivateSubscriptionBody,
    status: 200,
    answer: Subscription,
    async handler(call) {
      const { id } = await runCommand(call.deps, 'subscription', () =>
        Promise.resolve(async (tx) => {
          await activateSubscription(tx, call.deps, call, call.params.id, call.body);
          return { id: call.params.id };
        }),
      );
      await collectNow(call.deps, call, id);
      return await createdSubscription(call.deps.pool, call.scope, id);
    },
  }),
  route({
    method: 'POST',
    path: '/subscriptions/{id}/discard',
    summary: 'Discard a draft subscription',
    permission: 'subscription:write',
    params: IdParams,
    status: 200,
    answer: Message,
    async handler(call) {
      const { deps, params } = call;
      await deps.pool.begin((tx) => discardUnwanted(tx, deps, call, params.id));
      return { message: 'subscription draft discarded' };
    },
  }),
];
