import type { TimeOf } from '../../../platform/http/register-routes.ts';
import type { ApiDeps } from '../../deps.ts';
import { namesIn, timeOfNames } from './time-of-names.ts';

/**
 * The time of the test clock that owns the customers of a request, which it names by id or by any of their
 * records; null means real time (billing 22). Everything that the request reads or writes about them then
 * happens at that time. Routes of clocks themselves run in real time, as do requests without an environment
 * and those of production, which has no clocks.
 */
export const timeOfRequest: TimeOf<ApiDeps> = async (route, request) => {
  const { pool, identity, params, query, body } = request;
  const { tenant_id, environment_id } = identity;
  if (environment_id === '' || identity.environment_type === 'production') return null;
  if (route.withoutEnvironment === true || route.path.startsWith('/test-clocks')) return null;
  const ofPortal = identity.kind === 'customer' ? { customer_id: identity.customer_id } : {};
  const names = namesIn(params, query, Buffer.isBuffer(body) ? null : body, ofPortal);
  const isWrite = route.permission.endsWith(':write');
  return await timeOfNames(pool, { tenant_id, environment_id }, names, isWrite);
};
