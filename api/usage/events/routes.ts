import {
  EventHistory,
  EventList,
  EventLookup,
  EventParams,
  EventsBody,
  EventsQuery,
} from '../../../schemas/event.ts';
import {
  EventCosts,
  EventCostsBody,
  Monitoring,
  MonitoringQuery,
  ReprocessAnswer,
  ReprocessBody,
} from '../../../schemas/event-monitoring.ts';
import { route } from '../../conventions/route.ts';
import { debugEvent } from '../../billing/event-history/debug-event.ts';
import { eventCosts } from '../../billing/event-history/event-costs.ts';
import { eventsBodyOf, listEvents } from './list-events.ts';
import { monitorEvents } from './monitoring.ts';
import { reprocessEvents } from './reprocess-events.ts';

export const eventRoutes = [
  route({
    method: 'GET',
    path: '/events',
    summary: 'List accepted events',
    permission: 'event:read',
    query: EventsQuery,
    status: 200,
    answer: EventList,
    handler: ({ deps, scope, query }) => listEvents(deps, scope, eventsBodyOf(query)),
  }),
  route({
    method: 'POST',
    path: '/events/query',
    summary: 'Search accepted events',
    permission: 'event:read',
    body: EventsBody,
    status: 200,
    answer: EventList,
    handler: ({ deps, scope, body }) => listEvents(deps, scope, body),
  }),
  route({
    method: 'GET',
    path: '/events/lookup',
    summary: 'What became of an event, by an id of any characters',
    permission: 'event:read',
    query: EventLookup,
    status: 200,
    answer: EventHistory,
    handler: ({ deps, scope, query }) => debugEvent(deps, scope, query.id),
  }),
  route({
    method: 'GET',
    path: '/events/monitoring',
    summary: 'How many events came, what became of them, and how far the stream is behind',
    permission: 'event:read',
    query: MonitoringQuery,
    status: 200,
    answer: Monitoring,
    handler: ({ deps, scope, query }) => monitorEvents(deps, scope, query),
  }),
  route({
    method: 'POST',
    path: '/events/huggingface-billing',
    summary: 'What each event costs by itself, in billionths of a dollar',
    permission: 'event:read',
    body: EventCostsBody,
    status: 200,
    answer: EventCosts,
    handler: ({ deps, scope, body }) => eventCosts(deps, scope, body.requestIds),
  }),
  ...(['all', 'pending'] as const).map((which) =>
    route({
      method: 'POST',
      path: `/events/raw/reprocess/${which}`,
      summary: 'How many events of a time were rejected, and what evaluates them again',
      permission: 'event:write',
      body: ReprocessBody,
      status: 200,
      answer: ReprocessAnswer,
      handler: ({ deps, scope, body }) => reprocessEvents(deps, scope, body),
    }),
  ),
  route({
    method: 'GET',
    path: '/events/{id}',
    summary:
      'What became of an event: its copies, which one counts, and where its way to a charge ended',
    permission: 'event:read',
    params: EventParams,
    status: 200,
    answer: EventHistory,
    handler: ({ deps, scope, params }) => debugEvent(deps, scope, params.id),
  }),
];
