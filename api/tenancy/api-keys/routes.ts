import type { Call } from '../../../platform/http/route.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import {
  ApiKey,
  ApiKeySearch,
  CreateApiKeyBody,
  CreatedApiKey,
  isConsolePermissions,
  RotateApiKeyBody,
} from '../../../schemas/tenancy.ts';
import type { BillingDeps } from '../../deps.ts';
import { route } from '../../conventions/route.ts';
import { createApiKey, deleteApiKey, rotateApiKey } from './create-api-key.ts';
import { searchApiKeys } from './repository.ts';

/** Makes every process drop the keys from its cache once they are stored as ended. */
function forgetAfterwards(
  { deps, afterCommit }: Pick<Call<BillingDeps, unknown, unknown, unknown>, 'deps' | 'afterCommit'>,
  ids: readonly string[],
): void {
  afterCommit(async () => {
    for (const id of ids) await deps.forgetApiKey(id);
  });
}

/** Whose keys the caller sees; null means everybody's. */
const ownerInView = ({ identity, user_id }: KeyCaller): string | null =>
  identity.roles.includes('super_admin') ? null : user_id;
type KeyCaller = Pick<Call<BillingDeps, unknown, unknown, unknown>, 'identity' | 'user_id'>;

export const apiKeyRoutes = [
  route({
    method: 'POST',
    path: '/secrets/api/keys',
    summary: 'Create an API key; it is shown once',
    permission: 'secret:write',
    recentLogin: true,
    secretAnswer: true,
    body: CreateApiKeyBody,
    status: 201,
    answer: CreatedApiKey,
    handler(call) {
      if (isConsolePermissions(call.body.permissions ?? [])) call.ignore(['permissions']);
      return call.deps.pool.begin((tx) => createApiKey(tx, call.deps, call, call.body));
    },
  }),
  route({
    method: 'GET',
    path: '/secrets/api/keys',
    summary: 'List API keys: the caller’s own, or all of the environment for a super admin',
    permission: 'secret:read',
    query: ApiKeySearch.query,
    status: 200,
    answer: pageOf(ApiKey),
    handler: ({ deps, scope, query, ...caller }) =>
      searchApiKeys(deps.pool, scope, ownerInView(caller), query),
  }),
  route({
    method: 'POST',
    path: '/secrets/api/keys/search',
    summary: 'Search API keys: the caller’s own, or all of the environment for a super admin',
    permission: 'secret:read',
    body: ApiKeySearch.body,
    status: 200,
    answer: pageOf(ApiKey),
    handler: ({ deps, scope, body, ...caller }) =>
      searchApiKeys(deps.pool, scope, ownerInView(caller), body),
  }),
  route({
    method: 'POST',
    path: '/secrets/api/keys/{id}/rotate',
    summary: 'Rotate an API key; both keys work during the overlap',
    permission: 'secret:write',
    recentLogin: true,
    secretAnswer: true,
    params: IdParams,
    body: RotateApiKeyBody.optional(),
    status: 201,
    answer: CreatedApiKey,
    async handler(call) {
      const overlap = call.body?.overlap_seconds ?? 0;
      const { made, changed } = await call.deps.pool.begin((tx) =>
        rotateApiKey(tx, call.deps, call, call.params.id, overlap),
      );
      forgetAfterwards(call, changed);
      return made;
    },
  }),
  route({
    method: 'DELETE',
    path: '/secrets/api/keys/{id}',
    summary: 'Delete an API key; it is refused at once',
    permission: 'secret:write',
    recentLogin: true,
    params: IdParams,
    status: 204,
    answer: null,
    async handler(call) {
      const ended = await call.deps.pool.begin((tx) =>
        deleteApiKey(tx, call.deps, call, call.params.id),
      );
      forgetAfterwards(call, ended);
    },
  }),
];
