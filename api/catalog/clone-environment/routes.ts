import { CloneAccepted, CloneEnvironmentBody } from '../../../schemas/environment.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { route } from '../../conventions/route.ts';
import { cloneEnvironment } from './clone-environment.ts';

export const cloneEnvironmentRoutes = [
  route({
    method: 'POST',
    path: '/environments/{id}/clone',
    summary: 'Copy the catalog into a new environment, or into one without a catalog',
    permission: 'environment:write',
    humanOnly: true,
    withoutEnvironment: true,
    params: IdParams,
    body: CloneEnvironmentBody,
    status: 202,
    answer: CloneAccepted,
    async handler(call) {
      const id = await call.deps.pool.begin((tx) =>
        cloneEnvironment(tx, call.deps, call, call.params.id, call.body),
      );
      return { message: 'The catalog was copied', workflow_id: id, run_id: call.request_id };
    },
  }),
];
