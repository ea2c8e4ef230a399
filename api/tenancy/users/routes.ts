import { IdParams } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import {
  CreatedUser,
  CreateUserBody,
  RenameUserBody,
  SupportChatToken,
  UpdateMeBody,
  UpdateRolesBody,
  User,
  UserSearch,
} from '../../../schemas/tenancy.ts';
import { route } from '../../conventions/route.ts';
import {
  archiveServiceAccount,
  removePerson,
  renameServiceAccount,
  replaceRoles,
  updateMe,
} from './change-user.ts';
import { createUser } from './create-user.ts';
import { getUser, searchUsers, withTenant } from './repository.ts';
import { supportChatToken } from './support-chat.ts';

export const userRoutes = [
  route({
    method: 'POST',
    path: '/users',
    summary: 'Invite a person or make a service account',
    permission: 'user:write',
    recentLogin: true,
    withoutEnvironment: true,
    secretAnswer: true,
    body: CreateUserBody,
    status: 201,
    answer: CreatedUser,
    handler: (call) => createUser(call.deps, call, call.body),
  }),
  route({
    method: 'GET',
    path: '/users/me',
    summary: 'Get the caller',
    permission: 'authenticated',
    withoutEnvironment: true,
    status: 200,
    answer: User,
    async handler({ deps, scope, user_id }) {
      const user = await getUser(deps.pool, scope.tenant_id, user_id);
      return await withTenant(deps.pool, scope.tenant_id, user);
    },
  }),
  route({
    method: 'PUT',
    path: '/users/me',
    summary: 'Change the caller’s own name and metadata',
    permission: 'user:write',
    withoutEnvironment: true,
    body: UpdateMeBody,
    status: 200,
    answer: User,
    handler: (call) =>
      call.deps.pool.begin(async (tx) =>
        withTenant(tx, call.scope.tenant_id, await updateMe(tx, call.deps, call, call.body)),
      ),
  }),
  route({
    method: 'POST',
    path: '/users/search',
    summary: 'Search accounts; service accounts unless a type is given',
    permission: 'user:read',
    withoutEnvironment: true,
    body: UserSearch.body,
    status: 200,
    answer: pageOf(User),
    handler: ({ deps, scope, body }) => searchUsers(deps.pool, scope.tenant_id, body),
  }),
  route({
    method: 'POST',
    path: '/users/chat/verify',
    summary: 'Get a signed identity of the caller for the support widget',
    permission: 'authenticated',
    withoutEnvironment: true,
    secretAnswer: true,
    status: 200,
    answer: SupportChatToken,
    async handler({ deps, scope, user_id }) {
      const user = await getUser(deps.pool, scope.tenant_id, user_id);
      return supportChatToken(deps, user);
    },
  }),
  route({
    method: 'PUT',
    path: '/users/{id}',
    summary: 'Rename a service account',
    permission: 'user:write',
    withoutEnvironment: true,
    params: IdParams,
    body: RenameUserBody,
    status: 200,
    answer: User,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const { id } = call.params;
        const row = await renameServiceAccount(tx, call.deps, call, id, call.body.name);
        return await withTenant(tx, call.scope.tenant_id, row);
      }),
  }),
  route({
    method: 'PUT',
    path: '/users/{id}/roles',
    summary: 'Replace the roles of a person',
    permission: 'user:write',
    recentLogin: true,
    humanSuperAdminOnly: true,
    withoutEnvironment: true,
    params: IdParams,
    body: UpdateRolesBody,
    status: 200,
    answer: User,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const row = await replaceRoles(tx, call.deps, call, call.params.id, call.body.roles);
        return await withTenant(tx, call.scope.tenant_id, row);
      }),
  }),
  route({
    method: 'POST',
    path: '/users/{id}/remove',
    summary: 'Remove a person from the tenant, with their sessions and keys',
    permission: 'user:write',
    recentLogin: true,
    humanSuperAdminOnly: true,
    withoutEnvironment: true,
    params: IdParams,
    status: 204,
    answer: null,
    async handler(call) {
      const keys = await call.deps.pool.begin((tx) =>
        removePerson(tx, call.deps, call, call.params.id),
      );
      call.afterCommit(async () => {
        for (const key of keys) await call.deps.forgetApiKey(key);
      });
      return null;
    },
  }),
  route({
    method: 'DELETE',
    path: '/users/{id}',
    summary: 'Archive a service account that has no keys',
    permission: 'user:write',
    recentLogin: true,
    withoutEnvironment: true,
    params: IdParams,
    status: 204,
    answer: null,
    handler: (call) =>
      call.deps.pool.begin((tx) => archiveServiceAccount(tx, call.deps, call, call.params.id)),
  }),
];
