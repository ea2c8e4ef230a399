import { IdParams } from '../../../../schemas/primitives.ts';
import {
  ModifiedSubscription,
  ModifySubscriptionBody,
} from '../../../../schemas/subscription-modify.ts';
import { route } from '../../../conventions/route.ts';
import { executeModification, previewModification } from './modify.ts';

/** Changes of one subscription. Preview and execution run the same code. */
export const modifyRoutes = [
  route({
    method: 'POST',
    path: '/subscriptions/{id}/modify/preview',
    summary: 'Preview a change of a subscription',
    permission: 'subscription:read',
    ownsTransactions: true,
    params: IdParams,
    body: ModifySubscriptionBody,
    status: 200,
    answer: ModifiedSubscription,
    handler: (call) => previewModification(call.deps, call, call.params.id, call.body),
  }),
  route({
    method: 'POST',
    path: '/subscriptions/{id}/modify/execute',
    summary: 'Change a subscription',
    permission: 'subscription:write',
    ownsTransactions: true,
    params: IdParams,
    body: ModifySubscriptionBody,
    status: 200,
    answer: ModifiedSubscription,
    handler: (call) => executeModification(call.deps, call, call.params.id, call.body),
  }),
];
