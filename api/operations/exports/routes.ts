import { EventExportQuery, UsageExportQuery } from '../../../schemas/export.ts';
import { route } from '../../conventions/route.ts';
import { exportEvents } from './export-events.ts';
import { sendPart } from './export-part.ts';
import { exportUsage } from './export-usage.ts';

export const exportRoutes = [
  route({
    method: 'GET',
    path: '/events/export',
    summary:
      'Export one page of accepted events as CSV or JSON lines, with a checksum and the next cursor',
    permission: 'event:read',
    query: EventExportQuery,
    status: 200,
    answer: null,
    contentType: 'text/csv; charset=utf-8',
    handler: async (call) => {
      const part = await exportEvents(call.deps, call.scope, call.query);
      return sendPart(call, part, call.query.format) as never;
    },
  }),
  route({
    method: 'GET',
    path: '/usage/export',
    summary: 'Export one page of a meter’s usage by customer, as CSV or JSON lines',
    permission: 'event:read',
    query: UsageExportQuery,
    status: 200,
    answer: null,
    contentType: 'text/csv; charset=utf-8',
    handler: async (call) => {
      const part = await exportUsage(call.deps, call.scope, call.query);
      return sendPart(call, part, call.query.format) as never;
    },
  }),
];
