import {
  AuditChainPart,
  AuditChainQuery,
  AuditLog,
  AuditLogSearch,
} from '../../../schemas/audit-log.ts';
import { pageOf } from '../../../schemas/search.ts';
import { route } from '../../conventions/route.ts';
import { searchAuditLogs } from './repository.ts';
import { verifyChainPart } from './verify-chain.ts';

export const auditLogRoutes = [
  route({
    method: 'GET',
    path: '/audit-logs',
    summary: 'List the audit log',
    permission: 'audit_log:read',
    query: AuditLogSearch.query,
    status: 200,
    answer: pageOf(AuditLog),
    handler: ({ deps, scope, query }) => searchAuditLogs(deps.pool, scope, query),
  }),
  route({
    method: 'POST',
    path: '/audit-logs/search',
    summary: 'Search the audit log',
    permission: 'audit_log:read',
    body: AuditLogSearch.body,
    status: 200,
    answer: pageOf(AuditLog),
    handler: ({ deps, scope, body }) => searchAuditLogs(deps.pool, scope, body),
  }),
  route({
    method: 'GET',
    path: '/audit-logs/chain',
    summary: 'Verify a part of the chain of hashes over the audit log of the tenant',
    permission: 'audit_log:read',
    // The chain has the rows of all environments.
    withoutEnvironment: true,
    query: AuditChainQuery,
    status: 200,
    answer: AuditChainPart,
    handler: ({ deps, scope, query }) => verifyChainPart(deps.pool, scope, query.after ?? 0),
  }),
];
