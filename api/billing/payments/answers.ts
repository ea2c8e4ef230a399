import type { Db, Scope } from '../../../postgres/client.ts';
import { paymentFields, type Payment, type PaymentRecord } from '../../../schemas/payment.ts';
import { picked } from '../../conventions/picked.ts';
import { invoiceNumbers } from '../records/invoice-repository.ts';
import { attemptsOf } from '../records/payment-repository.ts';

/** Payments as listed: with the numbers of their invoices, without attempts. */
export async function paymentAnswers(
  db: Db,
  scope: Scope,
  payments: readonly PaymentRecord[],
): Promise<Payment[]> {
  const invoiceIds = payments.flatMap((payment) =>
    payment.destination_type === 'INVOICE' ? [payment.destination_id] : [],
  );
  const numbers = await invoiceNumbers(db, scope, [...new Set(invoiceIds)]);
  return payments.map((payment) => ({
    ...picked(paymentFields, payment),
    invoice_number: numbers.get(payment.destination_id) ?? null,
    attempts: [],
  }));
}

/** One payment with its attempts. */
export async function paymentAnswer(
  db: Db,
  scope: Scope,
  payment: PaymentRecord,
): Promise<Payment> {
  const [answer] = await paymentAnswers(db, scope, [payment]);
  return { ...answer!, attempts: await attemptsOf(db, scope, payment.id) };
}
