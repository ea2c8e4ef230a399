import { UpdatePriceBody } from '../../../schemas/price.ts';
import { PricePreview } from '../../../schemas/price-preview.ts';
import { PriceSync } from '../../../schemas/plan.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { route } from '../../conventions/route.ts';
import { previewPrice } from './preview-price.ts';
import { requestPriceSync } from './request-price-sync.ts';

export const priceSyncRoutes = [
  route({
    method: 'POST',
    path: '/prices/{id}/preview',
    summary:
      'Compare a new version of a price with what running subscriptions pay; changes nothing',
    permission: 'subscription:read',
    params: IdParams,
    body: UpdatePriceBody,
    status: 200,
    answer: PricePreview,
    handler: (call) =>
      call.deps.pool.begin((tx) =>
        previewPrice(tx, call.deps, call.scope, call.params.id, call.body),
      ),
  }),
  // The older and the newer path of the same sync.
  ...(['', '/v2'] as const).map((version) =>
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
  ),
];
