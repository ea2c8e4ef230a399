import { invalidField } from '../../../domain/errors.ts';
import { isGated } from '../../../domain/invoicing/gated-invoice.ts';
import { decimal } from '../../../domain/money.ts';
import type { CheckoutRecord } from '../../../schemas/checkout.ts';
import { below } from '../../conventions/bulk-error.ts';
import type { CheckoutGates } from '../../deps.ts';
import { checkoutAnswer } from './checkout-answer.ts';
import { completeGate } from './complete-gate.ts';
import { discardGate } from './discard-gate.ts';
import { offerPage, storeSession } from './store-session.ts';
import { syncCheckout } from './sync-checkout.ts';

/** The checkout sessions of all actions. Payments reach them through the dependencies of commands. */
export const checkoutGates: CheckoutGates = {
  open: openGate,
  async offer(deps, caller, sessionId) {
    const session = await syncCheckout(deps, caller, sessionId);
    return await checkoutAnswer(deps, caller.scope, session);
  },
  show: checkoutAnswer,
  complete: completeGate,
  offerPage,
  discard: (tx, deps, caller, session, gated) =>
    discardGate(tx, deps, caller, session, gated, 'The payment of the checkout session failed.'),
};

/** Stores the session of a request whose field `checkout` asks for it. A refusal names the field below `checkout`. */
async function openGate(...call: Parameters<CheckoutGates['open']>): Promise<CheckoutRecord> {
  const { invoice } = call[4];
  if (isGated(invoice) && decimal(invoice.amount_due).lte(0))
    throw invalidField('checkout', 'is for an invoice with an amount due; this one has none');
  try {
    return await storeSession(...call);
  } catch (error) {
    throw below(error, 'checkout');
  }
}
