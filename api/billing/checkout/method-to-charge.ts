import { decimal } from '../../../domain/money.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { CheckoutParams } from '../../../schemas/checkout.ts';
import type { PaymentMethod } from '../../../schemas/payment-method.ts';
import { findChargeableMethod } from '../payment-methods/chargeable-method.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';

/**
 * The saved method that pays a session while the customer is absent (money 11.22): the customer's default, if the
 * request asks for it, the method is of the named provider and type, and the amount is within the limits of the
 * request and of the tenant. Null: the customer pays on a page.
 */
export async function findMethodToCharge(
  db: Db,
  scope: Scope,
  { payment_provider, payment_provider_config: asked }: CheckoutParams,
  invoice: Pick<InvoiceRecord, 'customer_id' | 'currency' | 'amount_remaining'>,
): Promise<PaymentMethod | null> {
  if (asked?.collection_method !== 'charge_automatically') return null;
  const amount = decimal(invoice.amount_remaining);
  const limit = asked.max_mandate_limit;
  if (limit != null && amount.gt(decimal(limit))) return null;
  const method = await findChargeableMethod(db, scope, invoice, null, amount);
  if (method === null || method.payment_gateway !== payment_provider) return null;
  const type = asked.payment_method;
  return type == null || type === typeOf(method) ? method : null;
}

/** The words of the gateways for bank accounts differ from ours. */
const typeOf = ({ method_type }: PaymentMethod): string =>
  method_type === 'us_bank_account' ? 'ACH' : method_type.toUpperCase();
