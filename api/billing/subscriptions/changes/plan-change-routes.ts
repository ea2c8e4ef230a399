import { IdParams } from '../../../../schemas/primitives.ts';
import { ChangedPlan, ChangePlanBody } from '../../../../schemas/subscription-plan-change.ts';
import { route } from '../../../conventions/route.ts';
import { executePlanChange, previewPlanChange } from './change-plan.ts';

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
    handler: (call) => executePlanChange(call.deps, call, call.params.id, call.body),
  }),
];
