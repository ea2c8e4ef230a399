import type { BillingDeps } from '../api/deps.ts';
import { recomputeDrafts } from '../api/billing/invoices/recompute-drafts.ts';
import {
  draftsToRecompute,
  draftsToRecomputeOf,
  scopesWithDraftsToRecompute,
} from '../api/billing/records/draft-invoice-repository.ts';
import type { Scope } from '../postgres/client.ts';
import { billingRunOf } from './billing-run.ts';
import type { Job, JobRun } from './job.ts';
import { takeTurns, type Turn } from './scope-turns.ts';

/** Drafts per usage read and transaction. */
const PAGE_INVOICES = 200;

/**
 * Computes drafts again that were last computed a day ago or earlier, where the setting
 * draft_invoice_recompute_config is enabled (billing 17.8). It finalizes nothing. A draft that cannot be computed
 * stays as it is, and is tried again by the next run.
 */
export const recomputeDraftInvoices: Job<BillingDeps> = {
  name: 'recompute-draft-invoices',
  cron: '20 * * * *',
  ofCustomers: { workAt: draftsToRecomputeOf },
  async run(deps, run) {
    const totals = { recomputed: 0, failed: 0 };
    const scopes = await scopesWithDraftsToRecompute(deps.pool, run);
    await takeTurns(run, scopes, (scope) => pages(deps, run, scope, totals));
    return totals;
  },
};

function pages(
  deps: BillingDeps,
  run: JobRun,
  scope: Scope,
  totals: { recomputed: number; failed: number },
): Turn {
  let after = '';
  return async () => {
    const page = await draftsToRecompute(deps.pool, scope, {
      due: run,
      after,
      limit: PAGE_INVOICES,
    });
    const report = await recomputeDrafts(deps, billingRunOf(run, scope), page);
    for (const { invoice_id, error } of report.failed)
      run.fail?.({ invoice_id, ...scope }, error, 'draft not computed again');
    totals.recomputed += report.recomputed;
    totals.failed += report.failed.length;
    after = page.at(-1)?.id ?? after;
    return page.length === PAGE_INVOICES;
  };
}
