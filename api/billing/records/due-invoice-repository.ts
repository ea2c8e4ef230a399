import {
  inScope,
  type Db,
  type Fragment,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { columnList } from '../../../postgres/parameters.ts';
import {
  livesBy,
  ownedBy,
  type ClockRef,
  type Timeline,
} from '../../../postgres/tables/test-clocks.ts';
import {
  INVOICE_COLUMNS,
  type InvoiceRecord,
  type StoredWatermarks,
} from '../../../schemas/invoice.ts';

/**
 * Stores why the invoice, as it was read, was not finalized. With `isFinal` it is left to a person: the finalizing job
 * skips it. Null if it is no longer due, or has changed since: the next run finalizes what it is now.
 */
export async function setFinalizeRefusal(
  tx: Transaction,
  scope: Scope,
  { id, version }: Pick<InvoiceRecord, 'id' | 'version'>,
  { text, isFinal }: { readonly text: string; readonly isFinal: boolean },
): Promise<InvoiceRecord | null> {
  const [row] = await tx<InvoiceRecord[]>`
    update invoices
       set finalize_refusal = ${text},
           finalize_after = case when ${isFinal} then null else finalize_after end,
           version = version + 1
     where ${inScope(tx, scope)} and id = ${id} and version = ${version} and finalize_after is not null
    returning ${columnList(tx, INVOICE_COLUMNS)}`;
  return row ?? null;
}

/** Environments that have invoices whose grace is over by `at`. */
export async function scopesWithInvoicesToFinalize(db: Db, due: Timeline): Promise<Scope[]> {
  return await db<Scope[]>`
    select distinct tenant_id, environment_id
      from invoices
     where finalize_after <= ${due.at} and ${livesBy(db, due, db`invoices.customer_id`)}
     order by tenant_id, environment_id`;
}

/** Instants at which drafts of the clock's customers become due for finalization. */
export const finalizeTimes = (db: Db, clock: ClockRef): Fragment => db`
  select i.finalize_after as at
    from customers c join invoices i on i.customer_id = c.id
   where ${ownedBy(db, clock, 'i')} and i.finalize_after is not null
     and i.invoice_status in ('DRAFT', 'SKIPPED')`;

/** Stores the log's heads for invoices whose grace is over and that have none yet. */
export async function noteStreamHeads(
  db: Db,
  scope: Scope,
  due: Timeline,
  heads: StoredWatermarks,
): Promise<void> {
  await db`
    update invoices
       set stream_heads = ${db.json(heads)}
     where ${inScope(db, scope)} and finalize_after <= ${due.at} and stream_heads is null
       and ${livesBy(db, due, db`invoices.customer_id`)}`;
}

/** A position in the order of invoices to finalize: the next page begins after it. */
export interface FinalizeCursor {
  readonly finalize_after: string;
  readonly id: string;
}

/** The next page of drafts and of skipped invoices that late usage may give an amount, longest due first. */
export async function invoicesToFinalize(
  db: Db,
  scope: Scope,
  page: { readonly due: Timeline; readonly after: FinalizeCursor | null; readonly limit: number },
): Promise<InvoiceRecord[]> {
  const { due, after, limit } = page;
  return await db<InvoiceRecord[]>`
    select ${columnList(db, INVOICE_COLUMNS)}
      from invoices
     where ${inScope(db, scope)}
       and finalize_after <= ${due.at}
       and invoice_status in ('DRAFT', 'SKIPPED')
       and ${livesBy(db, due, db`invoices.customer_id`)}
       ${after === null ? db`` : db`and (finalize_after, id) > (${after.finalize_after}, ${after.id})`}
     order by finalize_after, id
     limit ${limit}`;
}

/** The due date of a finalized invoice that is not paid and was not reported for it; the index has this expression. */
const unreportedDueDate = (db: Db) => db`
  case when i.invoice_status = 'FINALIZED' and i.amount_remaining > 0 and i.status = 'published'
            and i.overdue_notified_for is distinct from i.due_date then i.due_date end`;

/** Condition of an invoice that is overdue at that time and was not reported for its due date. */
const overdue = (db: Db, due: Timeline) => db`
  ${livesBy(db, due, db`i.customer_id`)} and (${unreportedDueDate(db)}) < ${due.at}`;

/** Environments that have overdue invoices to report. */
export async function scopesWithOverdueInvoices(db: Db, due: Timeline): Promise<Scope[]> {
  return await db<Scope[]>`
    select distinct tenant_id, environment_id from invoices i where ${overdue(db, due)}
     order by tenant_id, environment_id`;
}

/** When invoices of the clock's customers become overdue: just after their due dates. */
export const overdueTimes = (db: Db, clock: ClockRef): Fragment => db`
  select (${unreportedDueDate(db)}) + interval '1 millisecond' as at
    from customers c join invoices i on i.customer_id = c.id
   where ${ownedBy(db, clock, 'i')} and (${unreportedDueDate(db)}) is not null`;

/** A page of the environment's overdue invoices to report, with ids greater than `after`. */
export async function overdueInvoices(
  db: Db,
  scope: Scope,
  page: { readonly due: Timeline; readonly after: string; readonly limit: number },
): Promise<string[]> {
  const { due, after, limit } = page;
  const rows = await db<{ id: string }[]>`
    select id from invoices i where ${inScope(db, scope)} and ${overdue(db, due)} and id > ${after}
     order by id limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** Marks those of the invoices that are overdue as reported for their due date, and returns them. */
export async function noteOverdueInvoices(
  tx: Transaction,
  scope: Scope,
  due: Timeline,
  ids: readonly string[],
): Promise<InvoiceRecord[]> {
  return await tx<InvoiceRecord[]>`
    update invoices set overdue_notified_for = due_date
     where id in (
             select id from invoices i
              where ${inScope(tx, scope)} and id = any(${[...ids]}::text[]) and ${overdue(tx, due)}
              for update skip locked)
    returning ${columnList(tx, INVOICE_COLUMNS)}`;
}
