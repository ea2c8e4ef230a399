import {
  paymentsToReconcile,
  syncPayment,
  unansweredTimes,
} from '../api/billing/payments/dispatch-payment.ts';
import {
  dispatchRefund,
  refundsToReconcile,
  touchRefund,
  unansweredRefundTimes,
} from '../api/billing/refunds/settle-refund.ts';
import type { BillingDeps } from '../api/deps.ts';
import { isoTime } from '../platform/clock.ts';
import type { Job } from './job.ts';

/** Payments and refunds per run; the rest waits for the next one. */
const PAGE = 200;
/** How long the job waits for an answer or an event before it reads the state from the gateway. */
const PATIENCE_MS = 30_000;

/**
 * Reads payments and refunds with an unknown outcome from their gateways: the request or its answer was lost,
 * or no event arrived (money 8.2.4, 9.3). A failure does not block the others.
 */
export const reconcilePayments: Job<BillingDeps> = {
  name: 'reconcile-payments',
  cron: '* * * * *',
  ofCustomers: {
    dueTimes: (db, testClockId) => db`
      select at + make_interval(secs => ${PATIENCE_MS / 1000 + 0.001}) as at
        from (${unansweredTimes(db, testClockId)} union all ${unansweredRefundTimes(db, testClockId)}) asked`,
  },
  async run(deps, run) {
    const silent = { ...run, at: isoTime(Date.parse(run.at) - PATIENCE_MS) };
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
    for (const { id, ...scope } of await paymentsToReconcile(deps.pool, silent, PAGE)) {
      if (run.signal.aborted) return totals;
      const caller = { scope, user_id: '' };
      if (await attempt(() => syncPayment(deps, caller, id), { payment_id: id }))
        totals.payments += 1;
    }
    for (const { id, ...scope } of await refundsToReconcile(deps.pool, silent, PAGE)) {
      if (run.signal.aborted) return totals;
      await touchRefund(deps.pool, deps, scope, id);
      const caller = { scope, user_id: '' };
      if (await attempt(() => dispatchRefund(deps, caller, id), { refund_id: id }))
        totals.refunds += 1;
    }
    return totals;
  },
};
