import { IdParams } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import {
  ApiKey,
  ApiKeySearch,
  CreateApiKeyBody,
  CreatedApiKey,
  RotateApiKeyBody,
} from '../../../schemas/tenancy.ts';
import { changed } from '../../conventions/record.ts';
import { route } from '../../conventions/route.ts';
import { assertOwnKey, createApiKey, rotateApiKey } from './create-api-key.ts';
import { findApiKey, searchApiKeys, updateApiKeyRow } from './repository.ts';

export const apiKeyRoutes = [
  route({
    method: 'POST',
    path: '/secrets/api/keys',
    summary: 'Make an API key; it is shown once',
    permission: 'secret:write',
    secretAnswer: true,
    body: CreateApiKeyBody,
    status: 201,
    answer: CreatedApiKey,
    handler: (call) => call.deps.pool.begin((tx) => createApiKey(tx, call.deps, call, call.body)),
  }),
  route({
    method: 'GET',
    path: '/secrets/api/keys',
    summary: 'List API keys: one’s own, or all of the environment for a super admin',
    permission: 'secret:read',
    query: ApiKeySearch.query,
    status: 200,
    answer: pageOf(ApiKey),
    handler: ({ deps, scope, query, identity, user_id }) => {
      const ownerId = identity.roles.includes('super_admin') ? null : user_id;
      return searchApiKeys(deps.pool, scope, ownerId, query);
    },
  }),
  route({
    method: 'POST',
    path: '/secrets/api/keys/{id}/rotate',
    summary: 'Make the successor of a key; both work for the overlap',
    permission: 'secret:write',
    secretAnswer: true,
    params: IdParams,
    body: RotateApiKeyBody.optional(),
    status: 201,
    answer: CreatedApiKey,
    async handler(call) {
      const overlap = call.body?.overlap_seconds ?? 0;
      const made = await call.deps.pool.begin((tx) =>
        rotateApiKey(tx, call.deps, call, call.params.id, overlap),
      );
      call.afterCommit(() => call.deps.forgetApiKey(call.params.id));
      return made;
    },
  }),
  route({
    method: 'DELETE',
    path: '/secrets/api/keys/{id}',
    summary: 'Delete an API key: it is refused from now on',
    permission: 'secret:write',
    params: IdParams,
    status: 204,
    answer: null,
    async handler(call) {
      const { id } = call.params;
      await call.deps.pool.begin(async (tx) => {
        assertOwnKey(call, await findApiKey(tx, call.scope, id));
        await updateApiKeyRow(tx, call.scope, id, {
          status: 'archived',
          ...changed(call.deps, call),
        });
      });
      call.afterCommit(() => call.deps.forgetApiKey(id));
    },
  }),
];
