import { z } from 'zod';
import { invalidField } from '../../../../domain/errors.ts';
import { id, IdParams } from '../../../../schemas/primitives.ts';
import {
  CancelledSchedule,
  CancelScheduleBody,
  ScheduleParams,
  ScheduleSearch,
  SubscriptionSchedule,
  SubscriptionSchedules,
} from '../../../../schemas/subscription-schedules.ts';
import { route } from '../../../conventions/route.ts';
import { getSchedule } from '../../records/schedule-repository.ts';
import { getSubscription } from '../../records/subscription-repository.ts';
import {
  cancelSchedule,
  listSchedules,
  namedSchedule,
  namesNoSchedule,
  scheduleAnswer,
  schedulesOf,
} from './schedules.ts';

const list = (path: string) =>
  route({
    method: 'GET',
    path,
    summary: 'List scheduled changes of subscriptions, pending ones by default',
    permission: 'subscription:read',
    query: ScheduleSearch.query,
    status: 200,
    answer: SubscriptionSchedules,
    handler: ({ deps, scope, query }) => listSchedules(deps, scope, query),
  });

const cancel = (path: string) =>
  route({
    method: 'POST',
    path,
    summary: 'Cancel a scheduled change',
    permission: 'subscription:write',
    params: ScheduleParams,
    body: CancelScheduleBody.optional(),
    status: 200,
    answer: CancelledSchedule,
    handler: (call) => {
      const { schedule_id } = call.params;
      if (call.body !== undefined && Object.values(call.body).every((value) => value == null))
        throw namesNoSchedule();
      if (call.body?.schedule_id && call.body.schedule_id !== schedule_id)
        throw invalidField('schedule_id', 'differs from the one in the path');
      return call.deps.pool.begin((tx) =>
        cancelSchedule(tx, call.deps, call, schedule_id, call.body),
      );
    },
  });

/** Scheduled changes of subscriptions. Existing clients call the paths with a second /v1. */
export const scheduleRoutes = [
  list('/subscriptions/schedules'),
  list('/v1/subscription-schedules'),
  route({
    method: 'GET',
    path: '/subscriptions/schedules/{schedule_id}',
    summary: 'Get a scheduled change',
    permission: 'subscription:read',
    params: ScheduleParams,
    status: 200,
    answer: SubscriptionSchedule,
    handler: async ({ deps, scope, params }) =>
      scheduleAnswer(await getSchedule(deps.pool, scope, params.schedule_id), deps.clock.now()),
  }),
  route({
    method: 'GET',
    path: '/v1/subscription-schedules/{id}',
    summary: 'Get a scheduled change, by the path of existing clients',
    permission: 'subscription:read',
    params: IdParams,
    status: 200,
    answer: SubscriptionSchedule,
    handler: async ({ deps, scope, params }) =>
      scheduleAnswer(await getSchedule(deps.pool, scope, params.id), deps.clock.now()),
  }),
  route({
    method: 'GET',
    path: '/subscriptions/{id}/schedules',
    summary: 'List the pending changes of a subscription',
    permission: 'subscription:read',
    params: IdParams,
    status: 200,
    answer: SubscriptionSchedules,
    async handler({ deps, scope, params }) {
      await getSubscription(deps.pool, scope, params.id);
      return await schedulesOf(deps, scope, params.id);
    },
  }),
  route({
    method: 'GET',
    path: '/v1/subscriptions/{subscription_id}/schedules',
    summary: 'List the pending changes of a subscription, by the path of existing clients',
    permission: 'subscription:read',
    params: z.object({ subscription_id: id }),
    status: 200,
    answer: SubscriptionSchedules,
    async handler({ deps, scope, params }) {
      await getSubscription(deps.pool, scope, params.subscription_id);
      return await schedulesOf(deps, scope, params.subscription_id);
    },
  }),
  cancel('/subscriptions/schedules/{schedule_id}/cancel'),
  cancel('/v1/subscriptions/schedules/{schedule_id}/cancel'),
  route({
    method: 'POST',
    path: '/subscriptions/schedules/cancel',
    summary: 'Cancel a scheduled change by its id, or by subscription and type',
    permission: 'subscription:write',
    body: CancelScheduleBody,
    status: 200,
    answer: CancelledSchedule,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const scheduleId = await namedSchedule(tx, call, call.body);
        return await cancelSchedule(tx, call.deps, call, scheduleId, call.body);
      }),
  }),
];
