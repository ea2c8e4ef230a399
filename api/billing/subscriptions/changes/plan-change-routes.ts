import { IdParams } from '../../../../schemas/primitives.ts';
import {
  ChangedPlan,
  ChangePlanBody,
  ExecutedSubscriptionChange,
  PreviewedSubscriptionChange,
  SubscriptionChangeBody,
} from '../../../../schemas/subscription-plan-change.ts';
import { oncePerBodyKey } from '../../../conventions/body-key.ts';
import { route } from '../../../conventions/route.ts';
import { executePlanChange, previewPlanChange } from './change-plan.ts';
import { executeSubscriptionChange, previewSubscriptionChange } from './earlier-plan-change.ts';

/** Plan changes in place. */
export const planChangeRoutes = [
  route({
    method: 'POST',
    path: '/subscriptions/{id}/change/v2/preview',
    summary: 'Preview a plan change',
    permission: 'subscription:read',
    ownsTransactions: true,
    params: IdParams,
    body: ChangePlanBody,
    status: 200,
    answer: ChangedPlan,
    handler: (call) => previewPlanChange(call.deps, call, call.params.id, call.body),
  }),
  route({
    method: 'POST',
    path: '/subscriptions/{id}/change/v2/execute',
    summary: 'Change the plan of a subscription now or at the end of the period',
    permission: 'subscription:write',
    ownsTransactions: true,
    params: IdParams,
    body: ChangePlanBody,
    status: 200,
    answer: ChangedPlan,
    handler: (call) => {
      const asked = { ...call.body, subscription_id: call.params.id };
      return oncePerBodyKey(call.deps, call, 'plan_change', asked, (deps) =>
        executePlanChange(deps, call, call.params.id, call.body),
      );
    },
  }),
  route({
    method: 'POST',
    path: '/subscriptions/{id}/change/preview',
    summary: 'Preview a plan change, in the earlier form',
    deprecated: true,
    permission: 'subscription:read',
    ownsTransactions: true,
    params: IdParams,
    body: SubscriptionChangeBody,
    status: 200,
    answer: PreviewedSubscriptionChange,
    handler: (call) => previewSubscriptionChange(call.deps, call, call.params.id, call.body),
  }),
  route({
    method: 'POST',
    path: '/subscriptions/{id}/change/execute',
    summary: 'Change the plan of a subscription, in the earlier form',
    deprecated: true,
    permission: 'subscription:write',
    ownsTransactions: true,
    params: IdParams,
    body: SubscriptionChangeBody,
    status: 200,
    answer: ExecutedSubscriptionChange,
    handler: (call) => executeSubscriptionChange(call.deps, call, call.params.id, call.body),
  }),
];
