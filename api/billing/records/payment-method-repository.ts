import { notFound } from '../../../domain/errors.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import { tableOf } from '../../../postgres/table.ts';
import type { PaymentMethod } from '../../../schemas/payment-method.ts';
import type { Page, Search } from '../../../schemas/search.ts';

const methods = tableOf<PaymentMethod>({
  name: 'payment_methods',
  noun: 'Payment method',
  columns: (db) => db`
    id, tenant_id, environment_id, customer_id, connection_id, payment_gateway, gateway_method_id,
    method_type, brand, last4, exp_month, exp_year, is_default, metadata, status,
    created_at, updated_at, created_by, updated_by`,
  json: ['metadata'],
});

/** Inserts the method and returns it as read. */
export const insertPaymentMethod = methods.insert;

/** Changes the given columns. 404 if the method is unknown or belongs to another scope. */
export const changePaymentMethodRow = methods.change;

/** The customer's published method, locked. 404 if it is of another customer, deleted or unknown. */
export async function lockPaymentMethod(
  tx: Transaction,
  scope: Scope,
  customerId: string,
  id: string,
): Promise<PaymentMethod> {
  const method = await methods.lock(tx, scope, id);
  if (method.customer_id !== customerId || method.status !== 'published')
    throw notFound('Payment method', id);
  return method;
}

/** The customer's published method. 404 if it is of another customer, deleted or unknown. */
export async function getPaymentMethod(
  db: Db,
  scope: Scope,
  customerId: string,
  id: string,
): Promise<PaymentMethod> {
  const method = await methods.get(db, scope, id);
  if (method.customer_id !== customerId || method.status !== 'published')
    throw notFound('Payment method', id);
  return method;
}

/** Any method with the id, deleted or not; null if the id is not one of ours. */
export async function findPaymentMethod(
  db: Db,
  scope: Scope,
  id: string,
): Promise<PaymentMethod | null> {
  const [row] = await methods.find(db, scope, [id]);
  return row ?? null;
}

/**
 * The published method of the customer that `named` names by our id or by the gateway's; without a name the
 * default one. Its connection must be published too. Null if there is none.
 */
export async function findUsableMethod(
  db: Db,
  scope: Scope,
  customerId: string,
  named: string | null,
): Promise<PaymentMethod | null> {
  const [row] = await db<PaymentMethod[]>`
    select ${methods.columns(db)} from payment_methods
     where ${inScope(db, scope)} and customer_id = ${customerId} and status = 'published'
       and ${named === null ? db`is_default` : db`(id = ${named} or gateway_method_id = ${named})`}
       and exists (select from connections c
                    where c.id = payment_methods.connection_id and c.status = 'published'
                      and c.takes_payments)
     order by (id = ${named ?? ''}) desc, created_at limit 1`;
  return row ?? null;
}

/** The customer's published method with the gateway's id; null if it is not saved. */
export async function findSavedMethod(
  db: Db,
  scope: Scope,
  of: Pick<PaymentMethod, 'customer_id' | 'connection_id' | 'gateway_method_id'>,
): Promise<PaymentMethod | null> {
  const [row] = await db<PaymentMethod[]>`
    select ${methods.columns(db)} from payment_methods
     where ${inScope(db, scope)} and customer_id = ${of.customer_id} and status = 'published'
       and connection_id = ${of.connection_id} and gateway_method_id = ${of.gateway_method_id}`;
  return row ?? null;
}

/** Whether the customer has a published method. */
export async function hasPaymentMethod(db: Db, scope: Scope, customerId: string): Promise<boolean> {
  const found = await db`
    select from payment_methods
     where ${inScope(db, scope)} and customer_id = ${customerId} and status = 'published' limit 1`;
  return found.length > 0;
}

/** Takes the default from the customer's other methods. */
export async function clearDefault(
  tx: Transaction,
  scope: Scope,
  customerId: string,
  change: { readonly updated_at: string; readonly updated_by: string },
): Promise<void> {
  await tx`
    update payment_methods set ${tx({ is_default: false, ...change })}
     where ${inScope(tx, scope)} and customer_id = ${customerId} and is_default
       and status = 'published'`;
}

/** Published methods of a customer. */
export function searchPaymentMethods(
  db: Db,
  scope: Scope,
  customerId: string,
  filter: { readonly payment_gateway?: string | null; readonly search: Search },
): Promise<Page<PaymentMethod>> {
  const { search, payment_gateway } = filter;
  return findPage<PaymentMethod>(db, {
    columns: methods.columns(db),
    from: db`payment_methods`,
    where: db`${inScope(db, scope)} and customer_id = ${customerId}
      and status = ${search.status ?? 'published'}
      ${payment_gateway ? db`and payment_gateway = ${payment_gateway}` : db``}`,
    search,
  });
}
