import { syncPayment } from '../api/billing/payments/dispatch-payment.ts';
import {
  paymentsToReconcile,
  scopesWithUnansweredPayments,
  unansweredTimes,
} from '../api/billing/payments/reconcile-repository.ts';
import { reconcileRefund } from '../api/billing/refunds/settle-refund.ts';
import {
  refundsToReconcile,
  scopesWithUnansweredRefunds,
  touchRefund,
  unansweredRefundTimes,
} from '../api/billing/refunds/reconcile-repository.ts';
import type { BillingDeps } from '../api/deps.ts';
import type { Scope } from '../postgres/client.ts';
import type { Job, JobRun } from './job.ts';
import { workOnRecords, type RecordWork } from './record-pages.ts';

/** Payments or refunds of one environment at a time: a slow gateway delays its own tenant only. */
const PAGE = 10;

/**
 * Reads payments and refunds with an unknown outcome from their gateways: the request or its answer was lost,
 * or no event arrived for a time that grows with each question (money 8.2.4, 9.3). Environments take turns. A failure
 * does not block the others.
 */
export const reconcilePayments: Job<BillingDeps> = {
  name: 'reconcile-payments',
  cron: '* * * * *',
  ofCustomers: {
    dueTimes: (db, clock) => db`
      select at + interval '1 millisecond' as at
        from (${unansweredTimes(db, clock)} union all ${unansweredRefundTimes(db, clock)}) asked`,
  },
  async run(deps, run) {
    const totals = { payments: 0, refunds: 0, failed: 0 };
    const paying = await scopesWithUnansweredPayments(deps.pool, run);
    await workOnRecords(run, paying, totals, (scope) => payments(deps, run, scope, totals));
    const refunding = await scopesWithUnansweredRefunds(deps.pool, run);
    await workOnRecords(run, refunding, totals, (scope) => refunds(deps, run, scope, totals));
    return totals;
  },
};

interface Totals {
  payments: number;
  refunds: number;
  failed: number;
}

function payments(
  deps: BillingDeps,
  run: JobRun,
  scope: Scope,
  totals: Totals,
): RecordWork<string> {
  return {
    page: PAGE,
    find: (after, limit) =>
      paymentsToReconcile(deps.pool, scope, { due: run, after: after ?? '', limit }),
    async work(id) {
      await syncPayment(deps, { scope, user_id: '' }, id);
      totals.payments += 1;
    },
    isAtOnce: true,
    failed: (payment_id) => [{ payment_id }, NOT_RECONCILED],
  };
}

function refunds(deps: BillingDeps, run: JobRun, scope: Scope, totals: Totals): RecordWork<string> {
  return {
    page: PAGE,
    find: (after, limit) =>
      refundsToReconcile(deps.pool, scope, { due: run, after: after ?? '', limit }),
    async work(id) {
      await touchRefund(deps.pool, deps, scope, id);
      await reconcileRefund(deps, { scope, user_id: '' }, id);
      totals.refunds += 1;
    },
    isAtOnce: true,
    failed: (refund_id) => [{ refund_id }, NOT_RECONCILED],
  };
}

const NOT_RECONCILED = 'not reconciled with its gateway';
