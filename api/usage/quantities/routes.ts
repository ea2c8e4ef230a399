import { EventUsageBody, MeterUsage, MeterUsageBody } from '../../../schemas/usage.ts';
import { route } from '../../conventions/route.ts';
import { eventUsage } from './event-usage.ts';
import { meterUsage } from './meter-usage.ts';

/** Usage as quantities, without prices. */
export const usageRoutes = [
  route({
    method: 'POST',
    path: '/events/usage',
    summary: 'Get usage by event name, from raw events and without a meter',
    permission: 'event:read',
    body: EventUsageBody,
    status: 200,
    answer: MeterUsage,
    handler: ({ deps, scope, body }) => eventUsage(deps, scope, body),
  }),
  route({
    method: 'POST',
    path: '/events/usage/meter',
    summary: 'Get usage of one meter, counted as on an invoice',
    permission: 'event:read',
    body: MeterUsageBody,
    status: 200,
    answer: MeterUsage,
    handler: ({ deps, scope, body }) => meterUsage(deps, scope, body),
  }),
];
