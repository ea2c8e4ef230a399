import type { BillingDeps } from '../api/deps.ts';
import { subscriptionSnapshot } from '../api/billing/records/subscription-notification.ts';
import {
  noteRenewals,
  renewalTimes,
  scopesWithRenewals,
} from '../api/billing/records/due-subscription-repository.ts';
import { findCustomers } from '../api/customers/customers/repository.ts';
import type { Scope } from '../postgres/client.ts';
import { holdJobLease } from '../postgres/tables/job-leases.ts';
import { writeOutboxEvents } from '../postgres/tables/outbox.ts';
import type { Job, JobRun } from './job.ts';
import { takeTurns, type Turn } from './scope-turns.ts';

/** Subscriptions per transaction. */
const PAGE_SUBSCRIPTIONS = 200;

/**
 * Sends `subscription.renewal.due` a day before the end of a period that another one follows, once per period
 * (money 17.3). Nothing else about the subscription changes.
 */
export const notifyRenewals: Job<BillingDeps> = {
  name: 'notify-renewals',
  cron: '*/15 * * * *',
  ofCustomers: { dueTimes: renewalTimes },
  async run(deps, run) {
    const totals = { notified: 0 };
    const scopes = await scopesWithRenewals(deps.pool, run);
    await takeTurns(run, scopes, (scope) => pages(deps, run, scope, totals));
    return totals;
  },
};

const pages =
  (deps: BillingDeps, run: JobRun, scope: Scope, totals: { notified: number }): Turn =>
  async () => {
    const noted = await deps.pool.begin(async (tx) => {
      await holdJobLease(tx, run.lease);
      const subscriptions = await noteRenewals(tx, scope, run, PAGE_SUBSCRIPTIONS);
      const ids = [...new Set(subscriptions.map(({ customer_id }) => customer_id))];
      const customers = await findCustomers(tx, scope, ids);
      await writeOutboxEvents(
        tx,
        subscriptions.map((row) => {
          const customer = customers.find(({ id }) => id === row.customer_id) ?? null;
          const subscription = subscriptionSnapshot(row, customer);
          return { scope, event_type: 'subscription.renewal.due', payload: { subscription } };
        }),
      );
      return subscriptions.length;
    });
    totals.notified += noted;
    return noted === PAGE_SUBSCRIPTIONS;
  };
