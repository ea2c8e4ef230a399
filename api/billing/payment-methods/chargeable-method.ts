import { decimal, type Decimal } from '../../../domain/money.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { PaymentMethod } from '../../../schemas/payment-method.ts';
import { findUsableMethod } from '../records/payment-method-repository.ts';

/**
 * The saved method that may be charged this amount while the customer is absent (money 8.6): the method
 * that `named` names; if that is gone, or none is named, the customer's default. Null if there is none, or if the
 * amount is above the limit of its type.
 */
export async function findChargeableMethod(
  db: Db,
  scope: Scope,
  { customer_id, currency }: Pick<InvoiceRecord, 'customer_id' | 'currency'>,
  named: string | null,
  amount: Decimal,
): Promise<PaymentMethod | null> {
  const own = named ? await findUsableMethod(db, scope, customer_id, named) : null;
  const method = own ?? (await findUsableMethod(db, scope, customer_id, null));
  if (method === null) return null;
  return (await isAboveMandate(db, scope, method, amount, currency)) ? null : method;
}

/**
 * Whether the amount is above what the tenant lets a saved method of this type be charged without the customer
 * (`payment_mandate_limits`). The invoice then waits for a payment of the customer.
 */
async function isAboveMandate(
  db: Db,
  scope: Scope,
  { method_type }: Pick<PaymentMethod, 'method_type'>,
  amount: Decimal,
  currency: string,
): Promise<boolean> {
  const { mandate_limits = {} } = await readSetting(db, scope, 'payment_mandate_limits');
  return Object.entries(mandate_limits).some(
    ([type, limit]) =>
      type.toUpperCase() === method_type.toUpperCase() &&
      ['', currency.toUpperCase()].includes(limit.currency.toUpperCase()) &&
      amount.gt(decimal(limit.max_amount)),
  );
}
