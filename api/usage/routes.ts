import { EventUsageBody, MeterUsage, MeterUsageBody } from '../../schemas/usage.ts';
import { UsageAnalytics, UsageAnalyticsBody } from '../../schemas/usage-analytics.ts';
import { route } from '../route.ts';
import { eventUsage } from './event-usage.ts';
import { usageAnalytics } from './usage-analytics.ts';
import { meterUsage } from './meter-usage.ts';

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
  route({
    method: 'POST',
    path: '/events/analytics',
    summary: 'Usage and cost of one customer, by usage line, group and window',
    permission: 'event:read',
    body: UsageAnalyticsBody,
    status: 200,
    answer: UsageAnalytics,
    handler: ({ deps, scope, body }) => usageAnalytics(deps, scope, body),
  }),
];
