import { BillingError } from '../../../domain/errors.ts';
import { isGated } from '../../../domain/invoicing/gated-invoice.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { PaymentRecord } from '../../../schemas/payment.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import {
  lockInvoiceToPay,
  reviseInvoicePayment,
  type LockedInvoice,
} from '../computing/revise-invoice-payment.ts';
import { endActiveCheckout, lockActiveCheckoutOf } from '../records/checkout-repository.ts';
import { endingOf } from '../records/checkout-ending.ts';

/**
 * Ends the active session of a payment with the payment's outcome, in the transaction that settles it. What
 * waited for the payment is done or removed (money 11.11). If a saved method was declined, the customer gets a page
 * instead (11.22). If the paid request cannot be carried out any more,
 * the session fails and the money goes back (11.12). A session whose cancellation or expiry closes the page at
 * the gateway expires, also when the gateway's report of it arrives first (11.15). The caller holds the locks of the
 * payment and its invoice. `announce` writes the notification of the payment: after the number of a paid invoice is
 * assigned, and before its money goes back. Returns the invoice whose payment fields are still to be derived; null if
 * there is none.
 */
export async function endCheckout(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  payment: PaymentRecord,
  locked: LockedInvoice | null,
  outcome: 'complete' | 'fail',
  announce: () => Promise<void> = async () => {},
): Promise<LockedInvoice | null> {
  const { scope } = caller;
  const session = await lockActiveCheckoutOf(tx, scope, payment.id);
  if (session === null) {
    await announce();
    return locked;
  }
  const change = changed(deps, caller);
  const end = (how: 'complete' | 'fail' | 'expire', reason: string) =>
    endActiveCheckout(tx, scope, session, how, { reason, ...change });
  const reason = payment.error_message ?? 'the payment is closed';
  const isDecline = outcome === 'fail' && payment.payment_status === 'FAILED';
  const isCharge = payment.payment_method_type !== 'PAYMENT_LINK';
  if (locked !== null && isDecline && isCharge && endingOf(session, change.updated_at) === null) {
    await announce();
    await deps.checkoutGates.offerPage(tx, deps, caller, session, locked.invoice);
    return await lockInvoiceToPay(tx, caller, locked.invoice.id);
  }
  const endUnpaid = () => {
    const ending = endingOf(session, change.updated_at);
    return ending === null ? end('fail', reason) : end('expire', ending);
  };
  if (locked === null || !isGated(locked.invoice)) {
    await announce();
    await (outcome === 'complete' ? end('complete', reason) : endUnpaid());
    return locked;
  }
  if (outcome === 'complete') {
    try {
      const done = await tx.savepoint((inner) =>
        deps.checkoutGates.complete(inner, deps, caller, session, locked),
      );
      await announce();
      await end('complete', reason);
      return done;
    } catch (error) {
      if (!(error instanceof BillingError)) throw error;
      await announce();
      await end('fail', error.message);
    }
  } else {
    await endUnpaid();
  }
  const invoice = await reviseInvoicePayment(tx, deps, caller, locked);
  await deps.checkoutGates.discard(tx, deps, caller, session, { ...locked, invoice });
  return null;
}
