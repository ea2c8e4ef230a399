import type { BillingDeps } from '../api/deps.ts';
import {
  advanceSubscriptions,
  type Advancing,
} from '../api/billing/subscriptions/advance-subscriptions.ts';
import {
  dueSubscriptions,
  scopesWithDueSubscriptions,
  type DueCursor,
} from '../api/billing/records/subscription-repository.ts';
import { holdJobLease } from '../postgres/tables/job-leases.ts';
import type { Scope } from '../postgres/client.ts';
import type { SubscriptionRow } from '../schemas/subscription.ts';
import type { Job, JobRun } from './job.ts';

/** Subscriptions in one usage read and one transaction. */
const PAGE_SUBSCRIPTIONS = 500;

interface Totals {
  advanced: number;
  invoices: number;
  failed: number;
}

/**
 * Does what is due: drafts the invoice of each period that is over and begins the next one, opens
 * subscriptions whose start has come, ends trials, and lets scheduled cancellations take effect
 * (billing-semantics 3.4). A subscription that is several periods behind is taken one period at a time,
 * in as many passes. One that can not be billed is logged and left; the others go on.
 */
export const closeBillingPeriods: Job<BillingDeps> = {
  name: 'close-billing-periods',
  cron: '* * * * *',
  async run(deps, run) {
    const totals = { advanced: 0, invoices: 0, failed: 0 };
    for (const scope of await scopesWithDueSubscriptions(deps.pool, run.at)) {
      let advanced = 0;
      do {
        advanced = await onePass(deps, run, scope, totals);
      } while (advanced > 0 && !run.signal.aborted);
      if (run.signal.aborted) break;
    }
    return totals;
  },
};

/** One step for every due subscription of an environment; answers how many took it. */
async function onePass(
  deps: BillingDeps,
  run: JobRun,
  scope: Scope,
  totals: Totals,
): Promise<number> {
  const advancing: Advancing = {
    scope,
    at: run.at,
    user_id: '',
    hold: (tx) => holdJobLease(tx, run.lease),
  };
  let advanced = 0;
  let failed = 0;
  let after: DueCursor | null = null;
  while (!run.signal.aborted) {
    const page: SubscriptionRow[] = await dueSubscriptions(deps.pool, scope, {
      at: run.at,
      after,
      limit: PAGE_SUBSCRIPTIONS,
    });
    const report = await advanceSubscriptions(deps, advancing, page);
    for (const { subscription_id, error } of report.failed)
      deps.log.error({ err: error, subscription_id, ...scope }, 'subscription not billed');
    advanced += report.advanced;
    failed += report.failed.length;
    totals.invoices += report.invoices;
    if (page.length < PAGE_SUBSCRIPTIONS) break;
    const last = page.at(-1)!;
    after = { due_at: last.due_at!, id: last.id };
  }
  totals.advanced += advanced;
  totals.failed = Math.max(totals.failed, failed);
  return advanced;
}
