import { EventUsageBody, MeterUsage, MeterUsageBody } from '../../../schemas/usage.ts';
import { route } from '../../conventions/route.ts';
import { eventUsage } from './event-usage.ts';
import { meterUsage } from './meter-usage.ts';

/** Usage as quantities, without prices. */
export const usageRoutes = [
  route({
    method: 'POST',
    path: '/events/usage',
    summary: 'Usage by event name, of raw events and without a meter',
    permission: 'event:read',
    body: EventUsageBody,
    status: 200,
    answer: MeterUsage,
    handler: ({ deps, scope, body }) => eventUsage(deps, scope, body),
  }),
  route({
    method: 'POST',
    path: '/events/usage/meter',
    summary: 'Usage of one meter, by its own rule, as an invoice would count it',
    permission: 'event:read',
    body: MeterUsageBody,
    status: 200,
    answer: MeterUsage,
    handler: ({ deps, scope, body }) => meterUsage(deps, scope, body),
  }),
];
