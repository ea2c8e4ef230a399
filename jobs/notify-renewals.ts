import type { BillingDeps } from '../api/deps.ts';
import { subscriptionSnapshot } from '../api/billing/records/subscription-notification.ts';
import {
  dueRenewals,
  noteRenewals,
  renewalTimes,
  scopesWithRenewals,
} from '../api/billing/records/due-subscription-repository.ts';
import { findCustomers } from '../api/customers/customers/repository.ts';
import type { Scope, Transaction } from '../postgres/client.ts';
import { writeOutboxEvents } from '../postgres/tables/outbox.ts';
import type { SubscriptionRow } from '../schemas/subscription.ts';
import type { Job } from './job.ts';
import { noticePages } from './notice-pages.ts';
import { takeTurns } from './scope-turns.ts';

/**
 * Sends `subscription.renewal.due` a day before the end of a period that another one follows, once per period
 * (money 17.3). Nothing else about the subscription changes. A subscription that fails does not stop the others.
 */
export const notifyRenewals: Job<BillingDeps> = {
  name: 'notify-renewals',
  cron: '*/15 * * * *',
  ofCustomers: { dueTimes: renewalTimes },
  async run(deps, run) {
    const totals = { notified: 0, failed: 0 };
    const scopes = await scopesWithRenewals(deps.pool, run);
    await takeTurns(run, scopes, (scope) =>
      noticePages(deps, run, scope, totals, {
        name: 'subscription_id',
        find: (after, limit) => dueRenewals(deps.pool, scope, { due: run, after, limit }),
        async send(tx, ids) {
          const subscriptions = await noteRenewals(tx, scope, run, ids);
          await notify(tx, scope, subscriptions);
          return subscriptions.length;
        },
      }),
    );
    return totals;
  },
};

async function notify(
  tx: Transaction,
  scope: Scope,
  subscriptions: readonly SubscriptionRow[],
): Promise<void> {
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
}
