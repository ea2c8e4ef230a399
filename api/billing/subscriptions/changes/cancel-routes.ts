import { IdParams } from '../../../../schemas/primitives.ts';
import { CancelledSubscription, Subscription } from '../../../../schemas/subscription-answers.ts';
import {
  CancelSubscriptionBody,
  UpdateSubscriptionBody,
} from '../../../../schemas/subscription-requests.ts';
import { route } from '../../../conventions/route.ts';
import { cancelSubscription } from './cancel-subscription.ts';
import { readSubscription } from '../read-subscriptions.ts';
import { cancelledAnswer } from './cancelled-answer.ts';
import { updateSubscription } from './update-subscription.ts';

/** The end of a subscription. */
export const cancelRoutes = [
  route({
    method: 'PUT',
    path: '/subscriptions/{id}',
    summary: 'Set or withdraw the end of a subscription',
    permission: 'subscription:write',
    params: IdParams,
    body: UpdateSubscriptionBody,
    status: 200,
    answer: Subscription,
    handler: async (call) => {
      await updateSubscription(call.deps, call, call.params.id, call.body);
      return await readSubscription(call.deps, call.scope, call.params.id);
    },
  }),
  route({
    method: 'POST',
    path: '/subscriptions/{id}/cancel',
    summary: 'Cancel a subscription',
    permission: 'subscription:write',
    ownsTransactions: true,
    params: IdParams,
    body: CancelSubscriptionBody,
    status: 200,
    answer: CancelledSubscription,
    handler: async (call) => {
      const cancelled = await cancelSubscription(call.deps, call, call.params.id, call.body);
      return await cancelledAnswer(call.deps.pool, call.scope, call.body, cancelled);
    },
  }),
];
