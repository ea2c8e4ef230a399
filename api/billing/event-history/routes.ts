import { EventHistory, EventLookup, EventParams } from '../../../schemas/event.ts';
import { EventCosts, EventCostsBody } from '../../../schemas/event-monitoring.ts';
import { route } from '../../conventions/route.ts';
import { tellRepair } from '../../usage/events/under-repair.ts';
import { debugEvent } from './debug-event.ts';
import { eventCosts } from './event-costs.ts';
import { MeterTest, TestMeterBody, TestMeterDefinitionBody } from '../../../schemas/meter.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { testMeter, testMeterDefinition } from './test-meter.ts';

/** The path of one event from its copies to the charge, and the path of a test event. */
export const eventHistoryRoutes = [
  route({
    method: 'GET',
    path: '/events/lookup',
    summary: 'Get the history of an event, by an id of any characters',
    permission: 'event:read',
    query: EventLookup,
    status: 200,
    answer: EventHistory,
    async handler(call) {
      await tellRepair(call);
      return await debugEvent(call.deps, call.scope, call.query.id);
    },
  }),
  route({
    method: 'POST',
    path: '/events/huggingface-billing',
    summary: 'Get the cost of each event alone, in billionths of a dollar',
    permission: 'event:read',
    body: EventCostsBody,
    status: 200,
    answer: EventCosts,
    handler: ({ deps, scope, body }) => eventCosts(deps, scope, body.requestIds),
  }),
  route({
    method: 'GET',
    path: '/events/{id}',
    summary:
      'Get the history of an event: its copies, which one counts, and how far its processing came',
    permission: 'event:read',
    params: EventParams,
    status: 200,
    answer: EventHistory,
    async handler(call) {
      await tellRepair(call);
      return await debugEvent(call.deps, call.scope, call.params.id);
    },
  }),
  route({
    method: 'POST',
    path: '/meters/test',
    summary: 'Test a meter definition that is not saved with an event',
    permission: 'meter:read',
    body: TestMeterDefinitionBody,
    status: 200,
    answer: MeterTest,
    handler: ({ deps, scope, body }) => testMeterDefinition(deps, scope, body.meter, body.event),
  }),
  route({
    method: 'POST',
    path: '/meters/{id}/test',
    summary: 'Test a meter with an event: its value, and what it would charge',
    permission: 'meter:read',
    params: IdParams,
    body: TestMeterBody,
    status: 200,
    answer: MeterTest,
    handler: ({ deps, scope, params, body }) => testMeter(deps, scope, params.id, body.event),
  }),
];
