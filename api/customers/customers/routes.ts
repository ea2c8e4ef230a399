import {
  CreateCustomerBody,
  CUSTOMER_EXPANDS,
  Customer,
  CustomerSearch,
  ExternalIdParams,
  LookupKeyParams,
  UpdateCustomerBody,
  UpdateCustomerQuery,
} from '../../../schemas/customer.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { expandQuery, pageOf } from '../../../schemas/search.ts';
import { route } from '../../conventions/route.ts';
import { createCustomer } from './create-customer.ts';
import { getCustomer, getCustomerByExternalId, searchCustomers } from './repository.ts';
import { updateCustomer } from './update-customer.ts';

export const customerRoutes = [
  route({
    method: 'POST',
    path: '/customers',
    summary: 'Create a customer',
    permission: 'customer:write',
    body: CreateCustomerBody,
    status: 201,
    answer: Customer,
    handler: (call) => createCustomer(call.deps.pool, call.deps, call, call.body),
  }),
  route({
    method: 'GET',
    path: '/customers',
    summary: 'List customers',
    permission: 'customer:read',
    query: CustomerSearch.query,
    status: 200,
    answer: pageOf(Customer),
    handler: ({ deps, scope, query }) => searchCustomers(deps.pool, scope, query),
  }),
  route({
    method: 'POST',
    path: '/customers/search',
    summary: 'Search customers',
    permission: 'customer:read',
    body: CustomerSearch.body,
    status: 200,
    answer: pageOf(Customer),
    handler: ({ deps, scope, body }) => searchCustomers(deps.pool, scope, body),
  }),
  route({
    method: 'GET',
    path: '/customers/external/{external_id}',
    summary: 'Get a customer by its external id',
    permission: 'customer:read',
    params: ExternalIdParams,
    query: expandQuery(CUSTOMER_EXPANDS),
    status: 200,
    answer: Customer,
    handler: ({ deps, scope, params }) =>
      getCustomerByExternalId(deps.pool, scope, params.external_id),
  }),
  route({
    method: 'GET',
    path: '/customers/lookup/{lookup_key}',
    summary: 'Get a customer by its external id',
    permission: 'customer:read',
    params: LookupKeyParams,
    query: expandQuery(CUSTOMER_EXPANDS),
    status: 200,
    answer: Customer,
    handler: ({ deps, scope, params }) =>
      getCustomerByExternalId(deps.pool, scope, params.lookup_key),
  }),
  route({
    method: 'GET',
    path: '/customers/{id}',
    summary: 'Get a customer',
    permission: 'customer:read',
    params: IdParams,
    status: 200,
    answer: Customer,
    handler: ({ deps, scope, params }) => getCustomer(deps.pool, scope, params.id),
  }),
  route({
    method: 'PUT',
    path: '/customers',
    summary: 'Update a customer identified by the query',
    permission: 'customer:write',
    query: UpdateCustomerQuery,
    body: UpdateCustomerBody,
    status: 200,
    answer: Customer,
    handler: (call) =>
      call.deps.pool.begin((tx) => updateCustomer(tx, call.deps, call, call.query, call.body)),
  }),
  route({
    method: 'PUT',
    path: '/customers/{id}',
    summary: 'Update a customer',
    permission: 'customer:write',
    params: IdParams,
    body: UpdateCustomerBody,
    status: 200,
    answer: Customer,
    handler: (call) =>
      call.deps.pool.begin((tx) => updateCustomer(tx, call.deps, call, call.params, call.body)),
  }),
];
