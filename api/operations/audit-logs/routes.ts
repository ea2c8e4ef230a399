import { AuditLog, AuditLogSearch } from '../../../schemas/audit-log.ts';
import { pageOf } from '../../../schemas/search.ts';
import { route } from '../../conventions/route.ts';
import { searchAuditLogs } from './repository.ts';

export const auditLogRoutes = [
  route({
    method: 'GET',
    path: '/audit-logs',
    summary: 'Search the audit log',
    permission: 'audit_log:read',
    query: AuditLogSearch.query,
    status: 200,
    answer: pageOf(AuditLog),
    handler: ({ deps, scope, query }) => searchAuditLogs(deps.pool, scope, query),
  }),
];
