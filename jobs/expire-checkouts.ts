import { expireCheckout } from '../api/billing/checkout/expire-checkout.ts';
import {
  checkoutExpiryTimes,
  checkoutsToExpire,
  scopesWithCheckoutsToExpire,
  type ExpiryCursor,
} from '../api/billing/records/checkout-repository.ts';
import type { BillingDeps } from '../api/deps.ts';
import type { Job } from './job.ts';
import { workOnRecords } from './record-pages.ts';

/** Sessions of one environment at a time: a slow gateway delays its own tenant only. */
const PAGE = 10;

/**
 * Ends expired checkout sessions (money 11.15). Environments take turns. A failure does not block the other
 * sessions: it is tried again by the next run.
 */
export const expireCheckouts: Job<BillingDeps> = {
  name: 'expire-checkouts',
  cron: '* * * * *',
  ofCustomers: { dueTimes: checkoutExpiryTimes },
  async run(deps, run) {
    const totals = { expired: 0, failed: 0 };
    const scopes = await scopesWithCheckoutsToExpire(deps.pool, run);
    await workOnRecords(run, scopes, totals, (scope) => ({
      page: PAGE,
      find: (after: ExpiryCursor | null, limit) =>
        checkoutsToExpire(deps.pool, scope, { due: run, after, limit }),
      async work({ id }) {
        await expireCheckout(deps, { scope, user_id: '' }, id, 'expire');
        totals.expired += 1;
      },
      isAtOnce: true,
      failed: ({ id }) => [{ checkout_session_id: id }, 'checkout session not expired'],
    }));
    return totals;
  },
};
