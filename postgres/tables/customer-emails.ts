import type { CustomerEmailType } from '../../schemas/settings/email.ts';
import type { Db, Fragment } from '../client.ts';

/** Which notification causes which e-mail to the customer. */
const CAUSES: Readonly<Record<CustomerEmailType, string>> = {
  invoice_issued: 'invoice.update.finalized',
  receipt: 'payment.success',
  payment_failed: 'payment.failed',
  wallet_low: 'wallet.ongoing_balance.dropped',
};

/** A notification that is repeated later than this causes no e-mail. */
const CAUSE_HOURS_MAX = 24;

/**
 * The statement that queues the e-mails which notifications of `taken` cause, as a part of the statement that
 * takes them: each notification causes an e-mail once, because the id of the e-mail follows from it. Only
 * environments that have switched them on send them, to customers in real time who have an address. An invoice
 * or a payment of zero causes none.
 */
export function queueCustomerEmails(db: Db, taken: Fragment, at: string): Fragment {
  return db`
    insert into emails_outbox (id, kind, recipient, payload, due_at, created_at)
    select 'email_' || t.id, cause.kind, c.email,
           jsonb_build_object('tenant_id', t.tenant_id, 'environment_id', t.environment_id,
                              'event_id', t.id, 'customer_id', c.id),
           ${at}::timestamptz, ${at}::timestamptz
      from ${taken} t
      join jsonb_each_text(${db.json(CAUSES)}) cause(kind, event_type) on cause.event_type = t.event_type
      join settings st
        on st.tenant_id = t.tenant_id and st.environment_id = t.environment_id
       and st.key = 'email_config' and (st.value ->> 'enabled')::boolean
       and coalesce(st.value -> 'types' ? cause.kind, true)
      join customers c
        on c.tenant_id = t.tenant_id and c.environment_id = t.environment_id and c.status = 'published'
       and c.id = coalesce(t.payload -> 'invoice' ->> 'customer_id', t.payload -> 'payment' ->> 'customer_id',
                           t.payload -> 'wallet' ->> 'customer_id')
       and c.email <> ''
     where t.clock_time is null and t.occurred_at > ${at}::timestamptz - ${`${CAUSE_HOURS_MAX} hours`}::interval
       and coalesce((t.payload -> 'invoice' ->> 'total')::numeric,
                    (t.payload -> 'payment' ->> 'amount')::numeric, 1) > 0
    on conflict (id) do nothing`;
}

/** A notification with what an e-mail about it needs; null if it or its customer is gone. */
export interface CustomerEmailSource {
  readonly payload: Readonly<Record<string, any>>;
  readonly tenant_name: string;
  readonly customer_name: string | null;
  readonly customer_timezone: string;
  /** The address that the customer has now. */
  readonly customer_email: string | null;
  /** Of the invoice that a payment is for. */
  readonly invoice_number: string | null;
}

export async function findCustomerEmailSource(
  db: Db,
  email: { readonly event_id: string; readonly customer_id: string },
): Promise<CustomerEmailSource | null> {
  const [row] = await db<CustomerEmailSource[]>`
    select o.payload, t.name as tenant_name, c.name as customer_name, c.timezone as customer_timezone,
           c.email as customer_email,
           (select i.invoice_number from invoices i
             where i.tenant_id = o.tenant_id and i.environment_id = o.environment_id
               and i.id = o.payload -> 'payment' ->> 'destination_id') as invoice_number
      from outbox o
      join tenants t on t.id = o.tenant_id
      join customers c on c.tenant_id = o.tenant_id and c.environment_id = o.environment_id
                      and c.id = ${email.customer_id} and c.status = 'published'
     where o.id = ${email.event_id}`;
  return row ?? null;
}
