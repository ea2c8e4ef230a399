import { IdParams } from '../../../schemas/primitives.ts';
import {
  CreateRefundBody,
  Refund,
  RefundSearch,
  type RefundRecord,
} from '../../../schemas/refund.ts';
import { pageOf } from '../../../schemas/search.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import { runCommand } from '../../conventions/command.ts';
import { picked } from '../../conventions/picked.ts';
import { route } from '../../conventions/route.ts';
import { getRefund, searchRefunds, type RefundFilter } from '../records/refund-repository.ts';
import { dispatchRefund } from './settle-refund.ts';
import { createRefund, retryRefund } from './create-refund.ts';

const shown = (record: RefundRecord): Refund => picked(Refund.shape, record);

async function listRefunds(db: Db, scope: Scope, filter: RefundFilter) {
  const page = await searchRefunds(db, scope, filter);
  return { ...page, items: page.items.map(shown) };
}

export const refundRoutes = [
  route({
    method: 'POST',
    path: '/refunds',
    summary: 'Refund a payment',
    permission: 'refund:write',
    recentLogin: true,
    ownsTransactions: true,
    body: CreateRefundBody,
    status: 201,
    answer: Refund,
    async handler(call) {
      const { refund, isRepeat } = await runCommand(call.deps, 'refund', () =>
        Promise.resolve((tx) => createRefund(tx, call.deps, call, call.body)),
      );
      if (isRepeat) call.setHeader('idempotent-replayed', 'true');
      const isWaiting = refund.refund_status === 'PENDING';
      return shown(isWaiting ? await dispatchRefund(call.deps, call, refund.id) : refund);
    },
  }),
  route({
    method: 'GET',
    path: '/refunds',
    summary: 'List refunds',
    permission: 'refund:read',
    query: RefundSearch.query,
    status: 200,
    answer: pageOf(Refund),
    handler: ({ deps, scope, query }) => listRefunds(deps.pool, scope, query),
  }),
  route({
    method: 'POST',
    path: '/refunds/search',
    summary: 'Search refunds',
    permission: 'refund:read',
    body: RefundSearch.body,
    status: 200,
    answer: pageOf(Refund),
    handler: ({ deps, scope, body }) => listRefunds(deps.pool, scope, body),
  }),
  route({
    method: 'GET',
    path: '/refunds/{id}',
    summary: 'Get a refund',
    permission: 'refund:read',
    params: IdParams,
    status: 200,
    answer: Refund,
    handler: async ({ deps, scope, params }) => shown(await getRefund(deps.pool, scope, params.id)),
  }),
  route({
    method: 'POST',
    path: '/refunds/{id}/retry',
    summary: 'Pay a failed refund into the customer’s wallet',
    permission: 'refund:write',
    recentLogin: true,
    params: IdParams,
    status: 200,
    answer: Refund,
    handler: async (call) =>
      shown(await call.deps.pool.begin((tx) => retryRefund(tx, call.deps, call, call.params.id))),
  }),
];
