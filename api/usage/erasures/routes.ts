import { EraseCustomerBody, Erasure } from '../../../schemas/erasure.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { pageOf, PageQuery } from '../../../schemas/search.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import { route } from '../../conventions/route.ts';
import { eraseCustomer } from './erase-customer.ts';
import { pageOfErasures } from './repository.ts';

export const erasureRoutes = [
  route({
    method: 'POST',
    path: '/customers/{id}/erase',
    summary:
      "Erase a customer's personal data and the properties of its events; invoices are unchanged",
    permission: 'erasure:write',
    params: IdParams,
    body: EraseCustomerBody,
    status: 202,
    answer: Erasure,
    handler: (call) =>
      call.deps.pool.begin((tx) => eraseCustomer(tx, call.deps, call, call.params.id, call.body)),
  }),
  route({
    method: 'GET',
    path: '/customers/{id}/erasures',
    summary: 'List the erasures of a customer with their progress, newest first',
    permission: 'erasure:read',
    params: IdParams,
    query: PageQuery,
    status: 200,
    answer: pageOf(Erasure),
    handler: async ({ deps, scope, params, query }) => {
      await getCustomer(deps.pool, scope, params.id);
      return await pageOfErasures(deps.pool, scope, params.id, query);
    },
  }),
];
