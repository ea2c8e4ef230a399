import { collectInvoice } from '../api/billing/payments/collect-invoice.ts';
import {
  collectionTimes,
  dueCollections,
  pendingCancellations,
  scopesToCollect,
  type CollectionCursor,
} from '../api/billing/records/collection-repository.ts';
import { cancelUncollected } from '../api/billing/subscriptions/changes/cancel-uncollected.ts';
import type { BillingDeps } from '../api/deps.ts';
import { isOutage } from '../api/outage.ts';
import type { Scope } from '../postgres/client.ts';
import { JobLeaseLost } from '../postgres/tables/job-leases.ts';
import { billingRunOf } from './billing-run.ts';
import type { Job, JobRun } from './job.ts';
import { takeTurns, type Turn } from './scope-turns.ts';

/** Charges of one environment at a time: a slow gateway delays its own tenant only. */
const PAGE = 10;

/**
 * Charges issued invoices to saved methods, and again after a declined charge; cancels subscriptions whose last
 * charge failed if the tenant asks for it (money 8.6, 8.7). A run that comes late makes one charge, not several.
 * An invoice or a subscription that fails does not stop the others.
 */
export const collectInvoices: Job<BillingDeps> = {
  name: 'collect-invoices',
  cron: '*/5 * * * * *',
  ofCustomers: { dueTimes: collectionTimes },
  async run(deps, run) {
    const totals = { charged: 0, cancelled: 0, failed: 0 };
    const scopes = await scopesToCollect(deps.pool, run);
    await takeTurns(run, scopes, (scope) => pages(deps, run, scope, totals));
    return totals;
  },
};

interface Totals {
  charged: number;
  cancelled: number;
  failed: number;
}

/** The charges, then the cancellations. */
function pages(deps: BillingDeps, run: JobRun, scope: Scope, totals: Totals): Turn {
  const charges = charged(deps, run, scope, totals);
  const cancellations = cancelled(deps, run, scope, totals);
  let areCharged = false;
  return async () => {
    if (areCharged) return await cancellations();
    areCharged = !(await charges());
    return true;
  };
}

function charged(deps: BillingDeps, run: JobRun, scope: Scope, totals: Totals): Turn {
  const billing = billingRunOf(run, scope);
  let after: CollectionCursor | null = null;
  return async () => {
    const page: CollectionCursor[] = await dueCollections(deps.pool, scope, {
      due: run,
      after,
      limit: PAGE,
    });
    await Promise.all(
      page.map(async ({ invoice_id }) => {
        try {
          const payment = await collectInvoice(deps, billing, invoice_id);
          if (payment !== null) totals.charged += 1;
        } catch (error) {
          totals.failed += 1;
          run.fail?.({ invoice_id, ...scope }, error, 'invoice not charged');
        }
      }),
    );
    // A failed charge stays due: the next page begins after it, and the next run tries it again.
    after = page.at(-1) ?? after;
    return page.length === PAGE;
  };
}

function cancelled(deps: BillingDeps, run: JobRun, scope: Scope, totals: Totals): Turn {
  const billing = billingRunOf(run, scope);
  let after = '';
  return async () => {
    const page = await pendingCancellations(deps.pool, scope, { due: run, after, limit: PAGE });
    for (const row of page) {
      try {
        if (await cancelUncollected(deps, billing, row)) totals.cancelled += 1;
      } catch (error) {
        if (error instanceof JobLeaseLost || isOutage(error)) throw error;
        totals.failed += 1;
        run.fail?.({ ...row, ...scope }, error, 'subscription not cancelled');
      }
    }
    after = page.at(-1)?.invoice_id ?? after;
    return page.length === PAGE;
  };
}
