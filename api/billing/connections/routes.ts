import { IdParams } from '../../../schemas/primitives.ts';
import { route } from '../../conventions/route.ts';
import type { Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { deleteConnection } from '../../tenancy/connections/change-connection.ts';
import { getConnection } from '../../tenancy/connections/repository.ts';
import { closeGateway } from './close-gateway.ts';

async function endConnection(deps: BillingDeps, caller: Caller, id: string): Promise<void> {
  await getConnection(deps.pool, caller.scope, id);
  await closeGateway(deps, caller, id);
  await deps.pool.begin((tx) => deleteConnection(tx, deps, caller, id));
}

export const connectionEndRoutes = [
  route({
    method: 'DELETE',
    path: '/connections/{id}',
    summary: 'Delete a connection and its credentials; open payment pages are closed first',
    permission: 'connection:write',
    params: IdParams,
    status: 204,
    answer: null,
    handler: (call) => endConnection(call.deps, call, call.params.id),
  }),
  route({
    method: 'DELETE',
    path: '/secrets/integrations/{id}',
    summary: 'Delete a connection and its credentials; use DELETE /connections/{id}',
    permission: 'connection:write',
    params: IdParams,
    status: 204,
    answer: null,
    deprecated: true,
    handler: (call) => endConnection(call.deps, call, call.params.id),
  }),
];
