import type * as z from 'zod';
import type { Db, Fragment, Scope } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import type { RequestLogEntry, RequestLogSearch } from '../../../schemas/request-log.ts';
import type { Page } from '../../../schemas/search.ts';

type Filter = z.output<typeof RequestLogSearch.body>;

/** Requests in the environment and about the tenant as a whole, newest first. */
export function searchRequestLogs(
  db: Db,
  scope: Scope,
  filter: Filter,
): Promise<Page<RequestLogEntry>> {
  const { request_id, idempotency, key_id, user_id, failed } = filter;
  const conditions = Object.entries({ request_id, idempotency, key_id, user_id })
    .filter(([, value]) => value != null && value !== '')
    .map(([column, value]) => db`and ${db(column)} = ${value!}`)
    .reduce((all: Fragment, condition) => db`${all} ${condition}`, db``);
  return findPage<RequestLogEntry>(db, {
    columns: db`
      id, nullif(environment_id, '') as environment_id, request_id, method, route, path, status_code,
      error_code, duration_ms, idempotency, actor_kind, user_id, key_id, ip, user_agent, created_at`,
    from: db`request_logs`,
    where: db`
      tenant_id = ${scope.tenant_id} and environment_id in (${scope.environment_id}, '') ${conditions}
      ${failed == null ? db`` : failed ? db`and status_code >= 400` : db`and status_code < 400`}`,
    search: filter.search,
    neverNull: ['method', 'route', 'path', 'status_code', 'duration_ms', 'ip'],
  });
}
