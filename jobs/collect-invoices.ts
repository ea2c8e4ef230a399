import { collectInvoice } from '../api/billing/payments/collect-invoice.ts';
import {
  collectionTimes,
  dueCollections,
  pendingCancellations,
  scopesToCollect,
  type CollectionCursor,
  type PendingCancellation,
} from '../api/billing/records/collection-repository.ts';
import { cancelUncollected } from '../api/billing/subscriptions/changes/cancel-uncollected.ts';
import type { BillingDeps } from '../api/deps.ts';
import type { Scope } from '../postgres/client.ts';
import { billingRunOf } from './billing-run.ts';
import type { Job, JobRun } from './job.ts';
import { recordPages } from './record-pages.ts';
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
  return recordPages(run, scope, totals, {
    page: PAGE,
    find: (after: CollectionCursor | null, limit) =>
      dueCollections(deps.pool, scope, { due: run, after, limit }),
    async work({ invoice_id }) {
      if ((await collectInvoice(deps, billing, invoice_id)) !== null) totals.charged += 1;
    },
    isAtOnce: true,
    failed: ({ invoice_id }) => [{ invoice_id }, 'invoice not charged'],
  });
}

function cancelled(deps: BillingDeps, run: JobRun, scope: Scope, totals: Totals): Turn {
  const billing = billingRunOf(run, scope);
  return recordPages(run, scope, totals, {
    page: PAGE,
    find: (after: PendingCancellation | null, limit) => {
      const page = { due: run, after: after?.invoice_id ?? '', limit };
      return pendingCancellations(deps.pool, scope, page);
    },
    async work(row) {
      if (await cancelUncollected(deps, billing, row)) totals.cancelled += 1;
    },
    failed: (row) => [{ ...row }, 'subscription not cancelled'],
  });
}
