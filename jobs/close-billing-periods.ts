import type { BillingDeps } from '../api/deps.ts';
import { advanceWithSchedules } from '../api/billing/subscriptions/changes/advance-with-schedules.ts';
import {
  dueSubscriptions,
  scopesWithDueSubscriptions,
  subscriptionDueTimes,
  type DueCursor,
} from '../api/billing/records/due-subscription-repository.ts';
import type { Scope } from '../postgres/client.ts';
import type { SubscriptionRow } from '../schemas/subscription.ts';
import { billingRunOf } from './billing-run.ts';
import type { Job, JobRun } from './job.ts';
import { takeTurns, type Turn } from './scope-turns.ts';

/** Subscriptions per usage read and transaction. */
const PAGE_SUBSCRIPTIONS = 500;

/**
 * Processes everything due: drafts the invoice of each period that is over and begins the next one, opens
 * subscriptions whose start has been reached, ends trials, and applies scheduled cancellations
 * (billing 3.4). A subscription that is several periods behind advances one period per pass.
 * Environments take turns, a page each. A subscription that cannot be billed notifies its tenant and does not
 * block the others.
 */
export const closeBillingPeriods: Job<BillingDeps> = {
  name: 'close-billing-periods',
  cron: '* * * * *',
  ofCustomers: { dueTimes: subscriptionDueTimes },
  async run(deps, run) {
    const totals = { advanced: 0, invoices: 0, failed: new Set<string>() };
    const scopes = await scopesWithDueSubscriptions(deps.pool, run);
    await takeTurns(run, scopes, (scope) => passes(deps, run, scope, totals));
    return { ...totals, failed: totals.failed.size };
  },
};

interface Totals {
  advanced: number;
  invoices: number;
  /** Subscription ids. */
  readonly failed: Set<string>;
}

/**
 * One step for every due subscription of an environment, page by page; repeats as long as a pass advances
 * one.
 */
function passes(deps: BillingDeps, run: JobRun, scope: Scope, totals: Totals): Turn {
  const billing = billingRunOf(run, scope);
  let after: DueCursor | null = null;
  let advanced = 0;
  return async () => {
    const page: SubscriptionRow[] = await dueSubscriptions(deps.pool, scope, {
      due: run,
      after,
      limit: PAGE_SUBSCRIPTIONS,
    });
    const report = await advanceWithSchedules(deps, billing, page);
    for (const { subscription_id, error } of report.failed) {
      run.fail?.({ subscription_id, ...scope }, error, 'subscription not billed');
      totals.failed.add(subscription_id);
    }
    totals.advanced += report.advanced;
    totals.invoices += report.invoices;
    advanced += report.advanced;
    if (page.length === PAGE_SUBSCRIPTIONS) {
      const last = page.at(-1)!;
      after = { due_at: last.due_at!, id: last.id };
      return true;
    }
    const isAnotherPassDue = advanced > 0;
    after = null;
    advanced = 0;
    return isAnotherPassDue;
  };
}
