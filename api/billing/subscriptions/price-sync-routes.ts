import { PriceSync } from '../../../schemas/plan.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { route } from '../../conventions/route.ts';
import { syncPlanPrices } from './sync-plan-prices.ts';

/** The older and the newer name of one and the same sync. */
export const priceSyncRoutes = (['', '/v2'] as const).map((version) =>
  route({
    method: 'POST',
    path: `/plans/{id}/sync/subscriptions${version}`,
    summary: 'Bring the prices of a plan to its running subscriptions',
    permission: 'plan:write',
    params: IdParams,
    status: 200,
    answer: PriceSync,
    async handler({ deps, params, scope, user_id }) {
      const report = await syncPlanPrices(deps, { scope, user_id }, params.id);
      const refused = report.refused.length;
      return {
        message:
          `Prices of ${report.synced} subscriptions are in sync, ${report.changed} were changed` +
          (refused === 0 ? '' : `, ${refused} were refused: ${report.refused.join(', ')}`),
        workflow_id: null,
        run_id: null,
      };
    },
  }),
);
