import { BillingError } from '../../../domain/errors.ts';
import { isGated } from '../../../domain/invoicing/gated-invoice.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { PaymentRecord } from '../../../schemas/payment.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import { reviseInvoicePayment, type LockedInvoice } from '../computing/revise-invoice-payment.ts';
import { endActiveCheckout, lockActiveCheckoutOf } from '../records/checkout-repository.ts';

/**
 * Ends the active session of a payment with the payment's outcome, in the transaction that settles it. What
 * waited for the payment is done or removed (money 11.11). If the paid request cannot be carried out any more,
 * the session fails and the money goes back (11.12). The caller holds the locks of the payment and its invoice.
 * Returns the invoice whose payment fields are still to be derived; null if there is none.
 */
export async function endCheckout(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  payment: PaymentRecord,
  locked: LockedInvoice | null,
  outcome: 'complete' | 'fail',
): Promise<LockedInvoice | null> {
  const { scope } = caller;
  const session = await lockActiveCheckoutOf(tx, scope, payment.id);
  if (session === null) return locked;
  const end = (how: 'complete' | 'fail', reason: string) =>
    endActiveCheckout(tx, scope, session, how, { reason, ...changed(deps, caller) });
  const reason = payment.error_message ?? 'the payment cannot be paid any more';
  if (locked === null || !isGated(locked.invoice)) {
    await end(outcome, reason);
    return locked;
  }
  if (outcome === 'complete') {
    try {
      const done = await tx.savepoint((inner) =>
        deps.checkoutGates.complete(inner, deps, caller, session, locked),
      );
      await end('complete', reason);
      return done;
    } catch (error) {
      if (!(error instanceof BillingError)) throw error;
      await end('fail', error.message);
    }
  } else {
    await end('fail', reason);
  }
  const invoice = await reviseInvoicePayment(tx, deps, caller, locked);
  await deps.checkoutGates.discard(tx, deps, caller, session, { ...locked, invoice });
  return null;
}
