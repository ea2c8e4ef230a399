import { IdParams } from '../../../schemas/primitives.ts';
import { route } from '../../conventions/route.ts';
import { endConnection } from './end-connection.ts';

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
