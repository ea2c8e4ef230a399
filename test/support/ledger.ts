import type { Pool } from '../../postgres/client.ts';

/**
 * Adds up the money of a test's database before it is dropped, in SQL and not with the code that keeps it: every wallet
 * with its transactions, every invoice with its rows, payments and credit notes. Throws if something does not add up. A
 * test that changes such rows below the API changes them back.
 */
export async function checkLedger(pool: Pool): Promise<void> {
  const faults = [
    ...(await walletFaults(pool)),
    ...(await invoiceFaults(pool)),
    ...(await paymentFaults(pool)),
  ];
  if (faults.length === 0) return;
  const lines = faults.slice(0, SHOWN).map(({ id, fault }) => `${id}: ${fault}`);
  throw new Error(`money does not add up in ${faults.length} cases:\n${lines.join('\n')}`);
}

const SHOWN = 20;

interface Fault {
  readonly id: string;
  readonly fault: string;
}

const walletFaults = (pool: Pool): Promise<Fault[]> => pool<Fault[]>`
  with moved as (
    select wallet_id, sum(credits_available) as in_blocks,
           sum(case type when 'credit' then credit_amount else -credit_amount end)
             filter (where transaction_status = 'completed') as credits
      from wallet_transactions group by wallet_id),
  taken as (
    select t.id, sum((part ->> 'credits')::numeric) as credits
      from wallet_transactions t, jsonb_array_elements(t.consumption_breakdown) part
     group by t.id)
  select w.id, fault
    from wallets w left join moved m on m.wallet_id = w.id,
         lateral (values
           (w.credit_balance is distinct from coalesce(m.credits, 0),
            format('has %s credits, its transactions have %s', w.credit_balance, m.credits)),
           (w.credits_in_blocks is distinct from coalesce(m.in_blocks, 0),
            format('has %s credits in blocks, its blocks have %s', w.credits_in_blocks, m.in_blocks)),
           (w.credit_balance is distinct from w.credits_in_blocks - w.overdraft,
            format('has %s credits, not %s in blocks less %s', w.credit_balance, w.credits_in_blocks, w.overdraft))
         ) as found (is_fault, fault)
   where is_fault
  union all
  select t.id, format('takes %s credits of blocks for a debit of %s', k.credits, t.credit_amount)
    from wallet_transactions t join taken k on k.id = t.id
   where k.credits > t.credit_amount`;

/** Each figure of an invoice, beside what its rows and payments have. */
const invoiceFaults = (pool: Pool): Promise<Fault[]> => pool<Fault[]>`
  with rows as (
    select invoice_id, sum(amount) as amount, sum(line_item_discount + invoice_level_discount) as discount,
           sum(prepaid_credits_applied) as credits
      from invoice_line_items where status = 'published' group by invoice_id),
  paid as (
    select destination_id as invoice_id, sum(amount) as amount
      from payments
     where destination_type = 'INVOICE' and status = 'published'
       and payment_status in ('SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED')
     group by destination_id),
  returned as (
    select invoice_id, sum(amount) as amount
      from refunds where refund_status = 'SUCCEEDED' group by invoice_id),
  adjusted as (
    select invoice_id, sum(total_amount) as amount
      from credit_notes where credit_note_type = 'ADJUSTMENT' and credit_note_status = 'FINALIZED'
     group by invoice_id)
  select i.id, format('%s: %s is %s, not %s', i.invoice_status, figure, found, expected) as fault
    from invoices i
    left join rows r on r.invoice_id = i.id
    left join paid p on p.invoice_id = i.id
    left join adjusted a on a.invoice_id = i.id
    left join returned b on b.invoice_id = i.id,
         lateral (select greatest(i.total - coalesce(a.amount, 0), 0) as due, coalesce(p.amount, 0) as paid) money,
         lateral (values
           ('subtotal', i.subtotal, coalesce(r.amount, 0)),
           ('total_discount', i.total_discount, coalesce(r.discount, 0)),
           ('total_prepaid_credits_applied', i.total_prepaid_credits_applied, coalesce(r.credits, 0)),
           ('total', i.total, greatest(i.subtotal - i.total_discount - i.total_prepaid_credits_applied
                                       + coalesce((i.tax_summary ->> 'exclusive_tax')::numeric, 0), 0)),
           ('adjustment_amount', i.adjustment_amount, coalesce(a.amount, 0)),
           ('amount_due', i.amount_due, money.due),
           ('amount_paid', i.amount_paid, money.paid),
           ('amount_remaining', i.amount_remaining, greatest(money.due - money.paid, 0)),
           ('overpaid_amount', i.overpaid_amount, greatest(money.paid - money.due, 0)),
           ('refunded_amount', i.refunded_amount, coalesce(b.amount, 0))
         ) as figures (figure, found, expected)
   where i.status = 'published' and i.invoice_status <> 'SKIPPED' and found is distinct from expected`;

/** What a payment has returned, beside what it brought. */
const paymentFaults = (pool: Pool): Promise<Fault[]> => pool<Fault[]>`
  select p.id, format('%s: brought %s and returned %s', p.payment_status, p.amount, r.amount) as fault
    from payments p
    join (select payment_id, sum(amount) as amount from refunds
           where refund_status = 'SUCCEEDED' group by payment_id) r on r.payment_id = p.id
   where case p.payment_status when 'REFUNDED' then r.amount <> p.amount
                               when 'PARTIALLY_REFUNDED' then r.amount >= p.amount
                               else true end
  union all
  select i.id, format('%s with the number %s, finalized at %s', i.invoice_status, i.invoice_number, i.finalized_at)
    from invoices i
   where i.invoice_status = 'FINALIZED' and (i.invoice_number is null or i.finalized_at is null)
      or i.invoice_status = 'DRAFT' and i.finalized_at is not null`;
