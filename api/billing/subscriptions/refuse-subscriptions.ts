import { billingRefusal, retryAt } from '../../../domain/invoicing/billing-refusal.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import { isPostgresRace } from '../../../postgres/outage.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BillingDeps } from '../../deps.ts';
import { isOutage } from '../../outage.ts';
import { subscriptionSnapshot } from '../records/subscription-notification.ts';
import { setBillingRefusal } from '../records/subscription-repository.ts';

/** Whose run it is, and when. */
interface Refusing {
  readonly scope: Scope;
  readonly at: string;
  /** Called in every transaction: refuses when the work is somebody else's by now. */
  hold(tx: Transaction): Promise<void>;
}

/** A subscription that could not be billed, and why. */
export interface RefusedSubscription {
  readonly subscription: SubscriptionRow;
  readonly error: unknown;
}

/**
 * Keeps with each subscription why it was not billed, and tells its tenant when the reason is a new one.
 * It is tried again after a growing pause, and at once after a change of it. What passes by itself (an
 * outage, a race with another writer) is no reason to keep.
 */
export async function refuseSubscriptions(
  deps: Pick<BillingDeps, 'pool'>,
  { scope, at, hold }: Refusing,
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
