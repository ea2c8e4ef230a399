import { expireCheckout } from '../api/billing/checkout/expire-checkout.ts';
import {
  checkoutExpiryTimes,
  checkoutsToExpire,
} from '../api/billing/records/checkout-repository.ts';
import type { BillingDeps } from '../api/deps.ts';
import type { Job } from './job.ts';

/** Sessions per run; the rest waits for the next one. */
const PAGE = 200;

/** Ends expired checkout sessions (money 11.15). A failure does not block the other sessions. */
export const expireCheckouts: Job<BillingDeps> = {
  name: 'expire-checkouts',
  cron: '* * * * *',
  ofCustomers: { dueTimes: checkoutExpiryTimes },
  async run(deps, run) {
    const totals = { expired: 0, failed: 0 };
    for (const { id, ...scope } of await checkoutsToExpire(deps.pool, run, PAGE)) {
      if (run.signal.aborted) break;
      try {
        await expireCheckout(deps, { scope, user_id: '' }, id, 'expire');
        totals.expired += 1;
      } catch (error) {
        totals.failed += 1;
        run.fail?.({ checkout_session_id: id }, error, 'checkout session not expired');
      }
    }
    return totals;
  },
};
