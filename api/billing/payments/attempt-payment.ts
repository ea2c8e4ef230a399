import {
  assertCollectable,
  payFromWallets,
  statusWhenPaid,
} from '../../../domain/invoicing/pay-from-wallets.ts';
import { decimalText } from '../../../domain/money.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { PaymentRecord } from '../../../schemas/payment.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { lockInvoiceToPay } from '../computing/revise-invoice-payment.ts';
import { getInvoice } from '../records/invoice-repository.ts';
import { findChargeableMethod } from '../payment-methods/chargeable-method.ts';
import { openAmount } from './collect-invoice.ts';
import { createPayment } from './create-payment.ts';
import { openAmounts, payingWallets } from './pay-with-credits.ts';

/**
 * Tries to collect the open amount of an invoice from the customer's POST_PAID wallets (money 2.6.8). Does
 * nothing without a usable wallet, and for a skipped invoice. 400 for an invoice that is paid or not
 * finalized.
 */
export async function attemptPayment(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  invoiceId: string,
): Promise<PaymentRecord | null> {
  const { invoice, subscription } = await lockInvoiceToPay(tx, caller, invoiceId);
  if (statusWhenPaid(invoice.invoice_status) === 'SKIPPED') return null;
  assertCollectable(invoice);
  const wallets = await payingWallets(tx, deps, caller, invoice);
  const open = await openAmounts(tx, caller, invoice);
  for (const { wallet_id, amount } of payFromWallets(open, wallets, invoice.currency))
    await createPayment(tx, deps, caller, {
      destination_type: 'INVOICE',
      destination_id: invoiceId,
      payment_method_type: 'CREDITS',
      payment_method_id: wallet_id,
      amount: decimalText(amount),
      currency: invoice.currency,
      // The invoice is locked: no other attempt runs.
      idempotency_key: `attempt-${deps.ids.next('attempt')}`,
      metadata: {},
    });
  const left = await openAmount(tx, caller.scope, await getInvoice(tx, caller.scope, invoiceId));
  const named = subscription?.gateway_payment_method_id ?? null;
  const method = left.gt(0)
    ? await findChargeableMethod(tx, caller.scope, invoice, named, left)
    : null;
  if (method === null) return null;
  const { payment } = await createPayment(tx, deps, caller, {
    destination_type: 'INVOICE',
    destination_id: invoiceId,
    payment_method_type: 'CARD',
    payment_method_id: method.id,
    amount: decimalText(left),
    currency: invoice.currency,
    idempotency_key: `attempt-${deps.ids.next('attempt')}`,
    metadata: {},
  });
  return payment;
}
