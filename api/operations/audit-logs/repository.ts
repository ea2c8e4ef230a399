import type { z } from 'zod';
import type { Db, Fragment, Scope } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import type { AuditLog, AuditLogSearch } from '../../../schemas/audit-log.ts';
import type { Page } from '../../../schemas/search.ts';

type Filter = z.output<typeof AuditLogSearch.body>;

/** Changes in the environment and in the tenant as a whole, newest first. Read-only: triggers write. */
export function searchAuditLogs(db: Db, scope: Scope, filter: Filter): Promise<Page<AuditLog>> {
  const { entity_type, entity_id, action, actor_kind, user_id, key_id, request_id } = filter;
  const given = { entity_type, entity_id, action, actor_kind, user_id, key_id, request_id };
  const conditions = Object.entries(given)
    .filter(([, value]) => value != null)
    .map(([column, value]) => db`and ${db(column)} = ${value!}`)
    .reduce((all: Fragment, condition) => db`${all} ${condition}`, db``);
  return findPage<AuditLog>(db, {
    columns: db`
      id, tenant_id, nullif(environment_id, '') as environment_id, entity_type, entity_id, action,
      before, after, actor_kind, user_id, key_id, job, request_id, ip, user_agent, created_at, clock_time`,
    from: db`audit_log`,
    where: db`
      tenant_id = ${scope.tenant_id} and environment_id in (${scope.environment_id}, '') ${conditions}`,
    search: filter.search,
  });
}
