import { z } from 'zod';
import { IdParams } from '../../../../schemas/primitives.ts';
import {
  PauseSubscriptionBody,
  ResumeSubscriptionBody,
  SubscriptionPause,
} from '../../../../schemas/subscription-pause.ts';
import { route } from '../../../conventions/route.ts';
import { findPausesOf } from '../../records/pause-repository.ts';
import { getSubscription } from '../../records/subscription-repository.ts';
import {
  getPauseOf,
  pauseSubscription,
  resumeSubscription,
  withdrawPause,
} from './pause-subscription.ts';

const PauseParams = IdParams.extend({ pause_id: IdParams.shape.id });

/** Pauses of a subscription (billing 12.1). */
export const pauseRoutes = [
  route({
    method: 'POST',
    path: '/subscriptions/{id}/pause',
    summary: 'Pause a subscription, now or later',
    permission: 'subscription:write',
    ownsTransactions: true,
    params: IdParams,
    body: PauseSubscriptionBody,
    status: 200,
    answer: SubscriptionPause,
    handler: (call) => pauseSubscription(call.deps, call, call.params.id, call.body),
  }),
  route({
    method: 'POST',
    path: '/subscriptions/{id}/resume',
    summary: 'Resume a paused subscription, now or later',
    permission: 'subscription:write',
    ownsTransactions: true,
    params: IdParams,
    body: ResumeSubscriptionBody,
    status: 200,
    answer: SubscriptionPause,
    handler: (call) => resumeSubscription(call.deps, call, call.params.id, call.body),
  }),
  route({
    method: 'GET',
    path: '/subscriptions/{id}/pauses',
    summary: 'List the pauses of a subscription, newest first',
    permission: 'subscription:read',
    params: IdParams,
    status: 200,
    answer: z.array(SubscriptionPause),
    async handler({ deps, scope, params }) {
      const { id } = await getSubscription(deps.pool, scope, params.id);
      return await findPausesOf(deps.pool, scope, [id]);
    },
  }),
  route({
    method: 'GET',
    path: '/subscriptions/{id}/pauses/{pause_id}',
    summary: 'Get a pause of a subscription',
    permission: 'subscription:read',
    params: PauseParams,
    status: 200,
    answer: SubscriptionPause,
    handler: ({ deps, scope, params }) => getPauseOf(deps.pool, scope, params.id, params.pause_id),
  }),
  route({
    method: 'POST',
    path: '/subscriptions/{id}/pauses/{pause_id}/cancel',
    summary: 'Withdraw a pause that has not begun',
    permission: 'subscription:write',
    params: PauseParams,
    status: 200,
    answer: SubscriptionPause,
    handler: (call) =>
      call.deps.pool.begin((tx) =>
        withdrawPause(tx, call.deps, call, call.params.id, call.params.pause_id),
      ),
  }),
];
