import { EnvironmentSeed, SeedEnvironmentBody } from '../../../schemas/environment-seed.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { route } from '../../conventions/route.ts';
import { getEnvironment } from '../../tenancy/environments/repository.ts';
import { readSeed } from './repository.ts';
import { startSeed } from './start-seed.ts';

export const environmentSeedRoutes = [
  route({
    method: 'POST',
    path: '/environments/{id}/seed',
    summary: 'Fill an empty environment with the data of a generated company',
    permission: 'environment:write',
    // The generated company has a schedule of payment retries, which is a setting.
    humanSuperAdminOnly: true,
    withoutEnvironment: true,
    params: IdParams,
    body: SeedEnvironmentBody,
    status: 202,
    answer: EnvironmentSeed,
    async handler(call) {
      const { answer, start } = await call.deps.pool.begin((tx) =>
        startSeed(tx, call.deps, call, call.params.id, call.body),
      );
      if (start !== null)
        call.afterCommit(async () => {
          // Not awaited: it takes a minute. Its outcome is stored.
          void call.deps.seedEnvironment(start);
        });
      return answer;
    },
  }),
  route({
    method: 'GET',
    path: '/environments/{id}/seed',
    summary: 'Get whether an environment is filled with generated data, and how far it is',
    permission: 'environment:read',
    withoutEnvironment: true,
    params: IdParams,
    status: 200,
    answer: EnvironmentSeed,
    async handler({ deps, params, ...call }) {
      const { id } = await getEnvironment(deps.pool, call, params.id);
      const { tenant_id } = call.scope;
      return await readSeed(deps.pool, { tenant_id, environment_id: id }, deps.clock.now());
    },
  }),
];
