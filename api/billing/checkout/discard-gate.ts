import type { Transaction } from '../../../postgres/client.ts';
import type { CheckoutRecord } from '../../../schemas/checkout.ts';
import type { BillingDeps, GatedInvoice } from '../../deps.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import { voidLocked } from '../invoices/void-invoice.ts';
import { archiveInvoice } from '../records/invoice-repository.ts';
import { discardDraft, giveBackRedemptions } from '../subscriptions/discard-draft.ts';
import { undoPurchase } from '../wallets/undo-purchase.ts';

/**
 * Removes everything that waited for a session (money 11.17): the draft invoice is voided and archived, pending
 * credits fail, a draft subscription is archived with its parts, coupons may be redeemed again. Money that was
 * paid goes back to where it came from. One transaction: either all of it happens or the session stays active.
 */
export async function discardGate(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  session: CheckoutRecord,
  { invoice, subscription }: GatedInvoice,
  reason: string,
): Promise<void> {
  const { scope } = caller;
  await undoPurchase(tx, deps, caller, invoice, reason);
  await voidLocked(tx, deps, caller, invoice, { refund_target: 'BACK_TO_SOURCE' });
  await archiveInvoice(tx, scope, invoice.id, changed(deps, caller));
  if (session.action === 'create_subscription' && subscription !== null)
    await discardDraft(tx, deps, caller, subscription);
  if (session.action === 'pay_invoice')
    await giveBackRedemptions(tx, deps, caller, [
      ...new Set(invoice.coupon_applications.map(({ coupon_id }) => coupon_id)),
    ]);
}
