import { RequestLogEntry, RequestLogSearch } from '../../../schemas/request-log.ts';
import { pageOf } from '../../../schemas/search.ts';
import { route } from '../../conventions/route.ts';
import { searchRequestLogs } from './repository.ts';

export const requestLogRoutes = [
  route({
    method: 'POST',
    path: '/request-logs/search',
    summary: 'Search the requests of the last seven days',
    permission: 'request_log:read',
    body: RequestLogSearch.body,
    status: 200,
    answer: pageOf(RequestLogEntry),
    async handler({ deps, scope, body }) {
      // What this process has answered can be found at once.
      await deps.requestLog.flush();
      return await searchRequestLogs(deps.pool, scope, body);
    },
  }),
];
