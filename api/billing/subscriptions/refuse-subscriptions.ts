import { billingRefusal, retryAt } from '../../../domain/invoicing/billing-refusal.ts';
import { isPostgresRace } from '../../../postgres/outage.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BillingDeps } from '../../deps.ts';
import { isOutage } from '../../outage.ts';
import type { BillingRun } from '../billing-run.ts';
import { subscriptionSnapshot } from '../records/subscription-notification.ts';
import { setBillingRefusal } from '../records/due-subscription-repository.ts';

/** A subscription that could not be billed, with the error. */
export interface RefusedSubscription {
  readonly subscription: SubscriptionRow;
  readonly error: unknown;
}

/**
 * Stores on each subscription why it was not billed, and notifies its tenant of a new reason. The
 * subscription is retried after growing waits, and at once after it changes. Temporary failures (an outage, a
 * race with another writer) are not stored.
 */
export async function refuseSubscriptions(
  deps: Pick<BillingDeps, 'pool'>,
  { scope, at, hold }: BillingRun,
  refused: readonly RefusedSubscription[],
): Promise<void> {
  for (const { subscription, error } of refused) {
    if (isOutage(error) || isPostgresRace(error)) continue;
    const before = subscription.billing_refusal;
    const billing_refusal = billingRefusal(error, before, at);
    await deps.pool.begin(async (tx) => {
      await hold(tx);
      const billing_retry_at = retryAt(billing_refusal, at);
      await setBillingRefusal(tx, scope, subscription.id, { billing_refusal, billing_retry_at });
      if (before?.since === billing_refusal.since) return;
      const snapshot = { ...subscriptionSnapshot(subscription, null), billing_refusal };
      const payload = { subscription: snapshot };
      await writeOutboxEvents(tx, [{ scope, event_type: 'subscription.updated', payload }]);
    });
  }
}
