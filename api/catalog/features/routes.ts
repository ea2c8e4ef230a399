import {
  CloneFeatureBody,
  CreateFeatureBody,
  Feature,
  FeatureSearch,
  UpdateFeatureBody,
} from '../../../schemas/feature.ts';
import { IdParams, Message } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import { route } from '../../conventions/route.ts';
import { archiveFeature } from './archive-feature.ts';
import { cloneFeature } from './clone-feature.ts';
import { createFeature } from './create-feature.ts';
import { getFeature, searchFeatures, withEmbedded } from './repository.ts';
import { updateFeature } from './update-feature.ts';

export const featureRoutes = [
  route({
    method: 'POST',
    path: '/features',
    summary: 'Create a feature',
    permission: 'feature:write',
    body: CreateFeatureBody,
    status: 201,
    answer: Feature,
    handler: (call) => call.deps.pool.begin((tx) => createFeature(tx, call.deps, call, call.body)),
  }),
  route({
    method: 'GET',
    path: '/features',
    summary: 'List features',
    permission: 'feature:read',
    query: FeatureSearch.query,
    status: 200,
    answer: pageOf(Feature),
    handler: ({ deps, scope, query }) => searchFeatures(deps.pool, scope, query),
  }),
  route({
    method: 'POST',
    path: '/features/search',
    summary: 'Search features',
    permission: 'feature:read',
    body: FeatureSearch.body,
    status: 200,
    answer: pageOf(Feature),
    handler: ({ deps, scope, body }) => searchFeatures(deps.pool, scope, body),
  }),
  route({
    method: 'GET',
    path: '/features/{id}',
    summary: 'Get a feature with its meter',
    permission: 'feature:read',
    params: IdParams,
    status: 200,
    answer: Feature,
    async handler({ deps, scope, params }) {
      const row = await getFeature(deps.pool, scope, params.id);
      const [feature] = await withEmbedded(deps.pool, scope, [row], { meter: true });
      return feature!;
    },
  }),
  route({
    method: 'PUT',
    path: '/features/{id}',
    summary: 'Update a feature',
    permission: 'feature:write',
    params: IdParams,
    body: UpdateFeatureBody,
    status: 200,
    answer: Feature,
    handler: (call) =>
      call.deps.pool.begin((tx) => updateFeature(tx, call.deps, call, call.params.id, call.body)),
  }),
  route({
    method: 'POST',
    path: '/features/{id}/clone',
    summary: 'Copy a feature',
    permission: 'feature:write',
    params: IdParams,
    body: CloneFeatureBody,
    status: 201,
    answer: Feature,
    handler: (call) =>
      call.deps.pool.begin((tx) => cloneFeature(tx, call.deps, call, call.params.id, call.body)),
  }),
  route({
    method: 'DELETE',
    path: '/features/{id}',
    summary: 'Archive a feature',
    permission: 'feature:write',
    params: IdParams,
    status: 200,
    answer: Message,
    async handler(call) {
      await call.deps.pool.begin((tx) => archiveFeature(tx, call.deps, call, call.params.id));
      return { message: 'feature deleted successfully' };
    },
  }),
];
