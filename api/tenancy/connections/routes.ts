import {
  Connection,
  ConnectionList,
  ConnectionSearch,
  CreateConnectionBody,
  UpdateConnectionBody,
} from '../../../schemas/connection.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import { route } from '../../conventions/route.ts';
import { createConnection, updateConnection } from './change-connection.ts';
import { getConnection, searchConnections } from './repository.ts';

/** The list in the form that clients of this resource expect. */
const listOf = ({ items, pagination }: Page<Connection>, { offset }: Search) => ({
  connections: items,
  total: pagination.total,
  limit: pagination.limit,
  offset,
});

export const connectionRoutes = [
  route({
    method: 'POST',
    path: '/connections',
    summary: 'Connect a provider; its credentials are stored encrypted',
    permission: 'connection:write',
    body: CreateConnectionBody,
    status: 201,
    answer: Connection,
    handler: (call) =>
      call.deps.pool.begin((tx) => createConnection(tx, call.deps, call, call.body)),
  }),
  route({
    method: 'GET',
    path: '/connections',
    summary: 'List connections',
    permission: 'connection:read',
    query: ConnectionSearch.query,
    status: 200,
    answer: ConnectionList,
    handler: async ({ deps, scope, query }) =>
      listOf(await searchConnections(deps.pool, scope, query), query.search),
  }),
  route({
    method: 'POST',
    path: '/connections/search',
    summary: 'Search connections',
    permission: 'connection:read',
    body: ConnectionSearch.body,
    status: 200,
    answer: ConnectionList,
    handler: async ({ deps, scope, body }) =>
      listOf(await searchConnections(deps.pool, scope, body), body.search),
  }),
  route({
    method: 'GET',
    path: '/connections/{id}',
    summary: 'Get a connection',
    permission: 'connection:read',
    params: IdParams,
    status: 200,
    answer: Connection,
    handler: ({ deps, scope, params }) => getConnection(deps.pool, scope, params.id),
  }),
  route({
    method: 'PUT',
    path: '/connections/{id}',
    summary: 'Update a connection',
    permission: 'connection:write',
    params: IdParams,
    body: UpdateConnectionBody,
    status: 200,
    answer: Connection,
    handler: (call) =>
      call.deps.pool.begin((tx) =>
        updateConnection(tx, call.deps, call, call.params.id, call.body),
      ),
  }),
];
