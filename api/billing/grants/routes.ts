import { CreateCreditGrantBody, CreditGrant } from '../../../schemas/credit-grant.ts';
import { isoTime } from '../../../platform/clock.ts';
import { createCreditGrant } from '../../catalog/credit-grants/create-credit-grant.ts';
import { route } from '../../conventions/route.ts';
import { lockSubscription } from '../records/subscription-repository.ts';
import { applyGrants } from './apply-grants.ts';

export const grantRoutes = [
  route({
    method: 'POST',
    path: '/creditgrants',
    summary:
      'Create a credit grant; due credits of a grant with scope SUBSCRIPTION are added at once',
    permission: 'creditgrant:write',
    body: CreateCreditGrantBody,
    status: 201,
    answer: CreditGrant,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const grant = await createCreditGrant(tx, call.deps, call, call.body);
        if (grant.subscription_id === null) return grant;
        const subscription = await lockSubscription(tx, call.scope, grant.subscription_id);
        const at = isoTime(call.deps.clock.now());
        await applyGrants(tx, call.deps, call, subscription, { at, refusal: 'throw' });
        return grant;
      }),
  }),
];
