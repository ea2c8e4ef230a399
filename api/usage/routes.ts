import { MeterUsage, MeterUsageBody } from '../../schemas/usage.ts';
import { route } from '../route.ts';
import { meterUsage } from './meter-usage.ts';

export const usageRoutes = [
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
