import { invalidField } from '../../../domain/errors.ts';
import {
  CreateEnvironmentBody,
  Environment,
  EnvironmentList,
  EnvironmentSearch,
  UpdateEnvironmentBody,
} from '../../../schemas/environment.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import { changed } from '../../conventions/record.ts';
import { route } from '../../conventions/route.ts';
import { createEnvironment } from './create-environment.ts';
import { getEnvironment, listEnvironments, renameEnvironment } from './repository.ts';

export const environmentRoutes = [
  route({
    method: 'POST',
    path: '/environments',
    summary: 'Create an environment',
    permission: 'environment:write',
    humanOnly: true,
    withoutEnvironment: true,
    body: CreateEnvironmentBody,
    status: 201,
    answer: Environment,
    handler: (call) =>
      call.deps.pool.begin((tx) => createEnvironment(tx, call.deps, call, call.body)),
  }),
  route({
    method: 'GET',
    path: '/environments',
    summary: 'List the environments of the tenant',
    permission: 'environment:read',
    withoutEnvironment: true,
    query: EnvironmentSearch.query,
    status: 200,
    answer: EnvironmentList,
    async handler(call) {
      const { search } = call.query;
      const found = await listEnvironments(call.deps.pool, call, search);
      return { ...found, offset: search.offset, limit: search.limit };
    },
  }),
  route({
    method: 'POST',
    path: '/environments/search',
    summary: 'Search the environments of the tenant',
    permission: 'environment:read',
    withoutEnvironment: true,
    body: EnvironmentSearch.body,
    status: 200,
    answer: pageOf(Environment),
    async handler(call) {
      const { search } = call.body;
      const { environments, total } = await listEnvironments(call.deps.pool, call, search);
      const pagination = { total, limit: search.limit, offset: search.offset + search.limit };
      return { items: environments, pagination };
    },
  }),
  route({
    method: 'GET',
    path: '/environments/{id}',
    summary: 'Get an environment',
    permission: 'environment:read',
    withoutEnvironment: true,
    params: IdParams,
    status: 200,
    answer: Environment,
    handler: (call) => getEnvironment(call.deps.pool, call, call.params.id),
  }),
  route({
    method: 'PUT',
    path: '/environments/{id}',
    summary: 'Rename an environment',
    permission: 'environment:write',
    humanOnly: true,
    withoutEnvironment: true,
    params: IdParams,
    body: UpdateEnvironmentBody,
    status: 200,
    answer: Environment,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const environment = await getEnvironment(tx, call, call.params.id);
        const { name, type } = call.body;
        if (type && type !== environment.type)
          throw invalidField('type', `never changes; it is ${environment.type}`);
        return await renameEnvironment(tx, call.scope.tenant_id, environment.id, {
          name: name || environment.name,
          ...changed(call.deps, call),
        });
      }),
  }),
];
