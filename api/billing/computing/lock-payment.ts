import type { Transaction } from '../../../postgres/client.ts';
import type { PaymentRecord } from '../../../schemas/payment.ts';
import type { Caller } from '../../conventions/record.ts';
import { getPayment, lockPayment, lockStoredPayment } from '../records/payment-repository.ts';
import { lockInvoiceToPay, type LockedInvoice } from './revise-invoice-payment.ts';

/** A payment with the invoice that it pays, both locked; null for a payment to a customer. */
export interface LockedPayment {
  readonly payment: PaymentRecord;
  readonly locked: LockedInvoice | null;
}

/**
 * Locks the invoice first, then its payment: the order of all commands that change both. 404 if not found, and for a
 * deleted payment.
 */
export async function lockPaymentWithInvoice(
  tx: Transaction,
  caller: Pick<Caller, 'scope'>,
  paymentId: string,
): Promise<LockedPayment> {
  const locked = await lockInvoiceOfPayment(tx, caller, paymentId);
  return { payment: await lockPayment(tx, caller.scope, paymentId), locked };
}

/** The same for payments that may be deleted, because money may arrive for them. */
export async function lockStoredPaymentWithInvoice(
  tx: Transaction,
  caller: Pick<Caller, 'scope'>,
  paymentId: string,
): Promise<LockedPayment> {
  const locked = await lockInvoiceOfPayment(tx, caller, paymentId);
  return { payment: await lockStoredPayment(tx, caller.scope, paymentId), locked };
}

/**
 * A replaced invoice passes its payments on to the replacement (money 9.15), and the replacing transaction may hold
 * the lock that this one waits for. So the payment is read again under the lock, after which it cannot move.
 */
async function lockInvoiceOfPayment(
  tx: Transaction,
  caller: Pick<Caller, 'scope'>,
  paymentId: string,
): Promise<LockedInvoice | null> {
  let locked: LockedInvoice | null = null;
  for (;;) {
    const { destination_type, destination_id } = await getPayment(tx, caller.scope, paymentId);
    if (destination_type !== 'INVOICE' || locked?.invoice.id === destination_id) return locked;
    locked = await lockInvoiceToPay(tx, caller, destination_id);
  }
}
