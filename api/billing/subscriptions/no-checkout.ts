import { BillingError } from '../../../domain/errors.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { hasActiveCheckout } from '../records/checkout-repository.ts';

/**
 * 409 while a session waits for the payment of the subscription or of a change of it: its amount is computed from the
 * state at its start, and only the payment activates or changes the subscription (money 11.6).
 */
export async function assertNoCheckout(
  tx: Transaction,
  subscription: Pick<SubscriptionRow, 'id' | 'tenant_id' | 'environment_id'>,
): Promise<void> {
  if (!(await hasActiveCheckout(tx, subscription, subscription.id))) return;
  const message = 'A checkout session of the subscription is active; cancel it or wait for it.';
  throw new BillingError('conflict', 'checkout_active', message, [
    { path: 'checkout', code: 'checkout_active', message },
  ]);
}
