import { collectInvoice } from '../api/billing/payments/collect-invoice.ts';
import {
  collectionTimes,
  dueCollections,
  pendingCancellations,
  scopesToCollect,
} from '../api/billing/records/collection-repository.ts';
import { cancelUncollected } from '../api/billing/subscriptions/changes/cancel-uncollected.ts';
import type { BillingDeps } from '../api/deps.ts';
import type { Scope } from '../postgres/client.ts';
import { billingRunOf } from './billing-run.ts';
import type { Job, JobRun } from './job.ts';
import { takeTurns, type Turn } from './scope-turns.ts';

/** Charges of one environment at a time: a slow gateway delays its own tenant only. */
const PAGE = 10;

/**
 * Charges issued invoices to saved methods, and again after a declined charge; cancels subscriptions whose last
 * charge failed if the tenant asks for it (money 8.6, 8.7). A run that comes late makes one charge, not several.
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

function pages(deps: BillingDeps, run: JobRun, scope: Scope, totals: Totals): Turn {
  const billing = billingRunOf(run, scope);
  const tried = new Set<string>();
  return async () => {
    const page = await dueCollections(deps.pool, scope, run, PAGE);
    // A failed charge stays due. When a page has only failed charges, the turns of this run end.
    const due = page.filter(({ invoice_id }) => !tried.has(invoice_id));
    await Promise.all(
      due.map(async ({ invoice_id }) => {
        tried.add(invoice_id);
        try {
          const payment = await collectInvoice(deps, billing, invoice_id);
          if (payment !== null) totals.charged += 1;
        } catch (error) {
          totals.failed += 1;
          run.fail?.({ invoice_id, ...scope }, error, 'invoice not charged');
        }
      }),
    );
    if (due.length > 0) return true;
    for (const row of await pendingCancellations(deps.pool, scope, run, PAGE))
      if (await cancelUncollected(deps, billing, row)) totals.cancelled += 1;
    return false;
  };
}
