import { EventList, EventsBody, EventsQuery } from '../../../schemas/event.ts';
import {
  Monitoring,
  MonitoringQuery,
  ReprocessAnswer,
  ReprocessBody,
} from '../../../schemas/event-monitoring.ts';
import { route } from '../../conventions/route.ts';
import { eventsBodyOf, listEvents } from './list-events.ts';
import { monitorEvents } from './monitoring.ts';
import { reprocessEvents } from './reprocess-events.ts';
import { tellRepair } from './under-repair.ts';

export const eventRoutes = [
  route({
    method: 'GET',
    path: '/events',
    summary: 'List accepted events',
    permission: 'event:read',
    query: EventsQuery,
    status: 200,
    answer: EventList,
    async handler(call) {
      await tellRepair(call);
      return await listEvents(call.deps, call.scope, eventsBodyOf(call.query));
    },
  }),
  route({
    method: 'POST',
    path: '/events/query',
    summary: 'Search accepted events',
    permission: 'event:read',
    body: EventsBody,
    status: 200,
    answer: EventList,
    async handler(call) {
      await tellRepair(call);
      return await listEvents(call.deps, call.scope, call.body);
    },
  }),
  route({
    method: 'GET',
    path: '/events/monitoring',
    summary: 'Get counts of received and processed events, and the lag of the stream',
    permission: 'event:read',
    query: MonitoringQuery,
    status: 200,
    answer: Monitoring,
    handler: ({ deps, scope, query }) => monitorEvents(deps, scope, query),
  }),
  ...(['all', 'pending'] as const).map((which) =>
    route({
      method: 'POST',
      path: `/events/raw/reprocess/${which}`,
      summary: 'Count the rejected events of a time range, and say how to evaluate them again',
      permission: 'event:write',
      ownsTransactions: true,
      body: ReprocessBody,
      status: 200,
      answer: ReprocessAnswer,
      handler: ({ deps, scope, body }) => reprocessEvents(deps, scope, body),
    }),
  ),
];
