import {
  CreditGrant,
  CreditGrantSearch,
  DeleteCreditGrantBody,
  UpdateCreditGrantBody,
} from '../../../schemas/credit-grant.ts';
import { IdParams, Message } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import { route } from '../../conventions/route.ts';
import { endCreditGrant, updateCreditGrant } from './end-credit-grant.ts';
import { getCreditGrant, searchCreditGrants } from './repository.ts';

export const creditGrantRoutes = [
  route({
    method: 'GET',
    path: '/creditgrants',
    summary: 'List credit grants',
    permission: 'creditgrant:read',
    query: CreditGrantSearch.query,
    status: 200,
    answer: pageOf(CreditGrant),
    handler: ({ deps, scope, query }) => searchCreditGrants(deps.pool, scope, query),
  }),
  route({
    method: 'POST',
    path: '/creditgrants/search',
    summary: 'Search credit grants',
    permission: 'creditgrant:read',
    body: CreditGrantSearch.body,
    status: 200,
    answer: pageOf(CreditGrant),
    handler: ({ deps, scope, body }) => searchCreditGrants(deps.pool, scope, body),
  }),
  route({
    method: 'GET',
    path: '/creditgrants/{id}',
    summary: 'Get a credit grant',
    permission: 'creditgrant:read',
    params: IdParams,
    status: 200,
    answer: CreditGrant,
    handler: ({ deps, scope, params }) => getCreditGrant(deps.pool, scope, params.id),
  }),
  route({
    method: 'PUT',
    path: '/creditgrants/{id}',
    summary: 'Update a credit grant',
    permission: 'creditgrant:write',
    params: IdParams,
    body: UpdateCreditGrantBody,
    status: 200,
    answer: CreditGrant,
    handler: (call) =>
      call.deps.pool.begin((tx) =>
        updateCreditGrant(tx, call.deps, call, call.params.id, call.body),
      ),
  }),
  route({
    method: 'DELETE',
    path: '/creditgrants/{id}',
    summary: 'Archive a template, or end a grant of a subscription',
    permission: 'creditgrant:write',
    params: IdParams,
    body: DeleteCreditGrantBody.nullish(),
    status: 200,
    answer: Message,
    async handler(call) {
      const effective = call.body?.effective_date ?? null;
      await call.deps.pool.begin((tx) =>
        endCreditGrant(tx, call.deps, call, call.params.id, effective),
      );
      return { message: 'credit grant deleted successfully' };
    },
  }),
];
