import { PriceSync } from '../../../schemas/plan.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { route } from '../../conventions/route.ts';
import { requestPriceSync } from './request-price-sync.ts';

/** The older and the newer path of the same sync. */
export const priceSyncRoutes = (['', '/v2'] as const).map((version) =>
  route({
    method: 'POST',
    path: `/plans/{id}/sync/subscriptions${version}`,
    summary: 'Apply the current prices of a plan to its running subscriptions',
    permission: 'plan:write',
    params: IdParams,
    status: 200,
    answer: PriceSync,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const task = await requestPriceSync(tx, call.deps, call, call.params.id);
        return {
          message: `Prices are being applied to ${task.total_records} subscriptions; see GET /tasks/${task.id} for progress`,
          workflow_id: task.id,
          run_id: task.id,
        };
      }),
  }),
);
