import {
  EventHistory,
  EventList,
  EventLookup,
  EventParams,
  EventsBody,
  EventsQuery,
} from '../../schemas/event.ts';
import { route } from '../route.ts';
import { debugEvent } from './debug-event.ts';
import { eventsBodyOf, listEvents } from './list-events.ts';

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
