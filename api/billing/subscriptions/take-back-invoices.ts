import type { Transaction } from '../../../postgres/client.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { voidLocked } from '../invoices/void-invoice.ts';
import { lockLivingInvoices } from '../records/subscription-invoice-repository.ts';

/**
 * Voids the invoices of an incomplete subscription that ends: it was never active, so nothing stays billed (billing
 * 13). What was paid of them returns to the customer. Other subscriptions keep theirs. The caller holds the
 * subscription's lock; `subscription` is the state before the end.
 */
export async function takeBackInvoices(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { id, subscription_status }: SubscriptionRow,
): Promise<void> {
  if (subscription_status !== 'incomplete') return;
  for (const invoice of await lockLivingInvoices(tx, caller.scope, id))
    await voidLocked(tx, deps, caller, invoice);
}
