import { IdParams } from '../../../schemas/primitives.ts';
import { route } from '../../conventions/route.ts';
import { deleteCustomer } from './delete-customer.ts';

export const customerDeletionRoutes = [
  route({
    method: 'DELETE',
    path: '/customers/{id}',
    summary: 'Archive a customer who has nothing running or open',
    permission: 'customer:write',
    params: IdParams,
    status: 204,
    answer: null,
    handler: (call) =>
      call.deps.pool.begin((tx) => deleteCustomer(tx, call.deps, call, call.params.id)),
  }),
];
