import { CreateGroupBody, Group, GroupSearch } from '../../../schemas/group.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import { newRecord } from '../../conventions/record.ts';
import { route } from '../../conventions/route.ts';
import { archiveGroup, getGroup, insertGroup, searchGroups } from './repository.ts';

export const groupRoutes = [
  route({
    method: 'POST',
    path: '/groups',
    summary: 'Create a group',
    permission: 'group:write',
    body: CreateGroupBody,
    status: 201,
    answer: Group,
    handler: (call) =>
      call.deps.pool.begin((tx) =>
        insertGroup(tx, {
          ...newRecord(call.deps, call, 'group'),
          ...call.body,
          metadata: call.body.metadata ?? {},
        }),
      ),
  }),
  route({
    method: 'POST',
    path: '/groups/search',
    summary: 'Search groups',
    permission: 'group:read',
    body: GroupSearch.body,
    status: 200,
    answer: pageOf(Group),
    handler: ({ deps, scope, body }) => searchGroups(deps.pool, scope, body),
  }),
  route({
    method: 'GET',
    path: '/groups',
    summary: 'List groups',
    permission: 'group:read',
    query: GroupSearch.query,
    status: 200,
    answer: pageOf(Group),
    handler: ({ deps, scope, query }) => searchGroups(deps.pool, scope, query),
  }),
  route({
    method: 'GET',
    path: '/groups/{id}',
    summary: 'Get a group with its members',
    permission: 'group:read',
    params: IdParams,
    status: 200,
    answer: Group,
    handler: ({ deps, scope, params }) => getGroup(deps.pool, scope, params.id),
  }),
  route({
    method: 'DELETE',
    path: '/groups/{id}',
    summary: 'Archive a group and remove its members from it',
    permission: 'group:write',
    params: IdParams,
    status: 204,
    answer: null,
    handler: (call) =>
      call.deps.pool.begin((tx) => archiveGroup(tx, call.deps, call, call.params.id)),
  }),
];
