import { inScope, type Db, type Scope } from '../../../postgres/client.ts';

/** What still runs or is owed by a customer. */
export interface Obligations {
  /** Subscriptions that have not ended: of the customer, and those that the customer pays. */
  readonly subscriptions: readonly string[];
  /** Drafts, and issued invoices with an open amount. */
  readonly invoices: readonly string[];
  /** Payments whose outcome is not known. */
  readonly payments: readonly string[];
  /** Refunds that the gateway has not paid back. */
  readonly refunds: readonly string[];
}

/** Ids of each kind that are read; a refusal names no more. */
const SHOWN = 20;

/** The obligations of a customer, by id. */
export async function obligationsOf(
  db: Db,
  scope: Scope,
  customerId: string,
): Promise<Obligations> {
  const [row] = await db<[Obligations]>`
    select
      array(select id from subscriptions
             where ${inScope(db, scope)} and status = 'published' and subscription_status <> 'cancelled'
               and (customer_id = ${customerId} or invoicing_customer_id = ${customerId})
             order by id limit ${SHOWN}) as subscriptions,
      array(select id from invoices
             where ${inScope(db, scope)} and status = 'published' and customer_id = ${customerId}
               and (invoice_status = 'DRAFT' or (invoice_status = 'FINALIZED' and amount_remaining > 0))
             order by id limit ${SHOWN}) as invoices,
      array(select id from payments
             where ${inScope(db, scope)} and status = 'published' and customer_id = ${customerId}
               and payment_status in ('INITIATED', 'PENDING', 'PROCESSING')
             order by id limit ${SHOWN}) as payments,
      array(select id from refunds
             where ${inScope(db, scope)} and status = 'published' and customer_id = ${customerId}
               and refund_status in ('PENDING', 'PROCESSING')
             order by id limit ${SHOWN}) as refunds`;
  return row;
}
