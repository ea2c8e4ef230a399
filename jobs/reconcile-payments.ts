import { syncPayment } from '../api/billing/payments/dispatch-payment.ts';
import {
  paymentsToReconcile,
  unansweredTimes,
} from '../api/billing/payments/reconcile-repository.ts';
import { dispatchRefund } from '../api/billing/refunds/settle-refund.ts';
import {
  refundsToReconcile,
  touchRefund,
  unansweredRefundTimes,
} from '../api/billing/refunds/reconcile-repository.ts';
import type { BillingDeps } from '../api/deps.ts';
import type { Job } from './job.ts';

/** Payments and refunds per run; the rest waits for the next one. */
const PAGE = 200;
/**
 * Reads payments and refunds with an unknown outcome from their gateways: the request or its answer was lost,
 * or no event arrived for a time that grows with each question (money 8.2.4, 9.3). A failure does not block the
 * others.
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
    const attempt = async (
      work: () => Promise<unknown>,
      of: Readonly<Record<string, string>>,
    ): Promise<boolean> => {
      try {
        await work();
        return true;
      } catch (error) {
        totals.failed += 1;
        run.fail?.(of, error, 'not reconciled with its gateway');
        return false;
      }
    };
    for (const { id, ...scope } of await paymentsToReconcile(deps.pool, run, PAGE)) {
      if (run.signal.aborted) return totals;
      const caller = { scope, user_id: '' };
      if (await attempt(() => syncPayment(deps, caller, id), { payment_id: id }))
        totals.payments += 1;
    }
    for (const { id, ...scope } of await refundsToReconcile(deps.pool, run, PAGE)) {
      if (run.signal.aborted) return totals;
      await touchRefund(deps.pool, deps, scope, id);
      const caller = { scope, user_id: '' };
      if (await attempt(() => dispatchRefund(deps, caller, id), { refund_id: id }))
        totals.refunds += 1;
    }
    return totals;
  },
};
