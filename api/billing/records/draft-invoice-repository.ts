import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import { columnList } from '../../../postgres/parameters.ts';
import { livesBy, type ClockRef, type Timeline } from '../../../postgres/tables/test-clocks.ts';
import { INVOICE_COLUMNS, type InvoiceRecord } from '../../../schemas/invoice.ts';

/**
 * Condition of a draft that is due to be computed again: of a subscription, without rows that a person wrote, not
 * waiting for a payment, last computed a day ago or earlier.
 */
const due = (db: Db, timeline: Timeline) => db`
  ${livesBy(db, timeline, db`invoices.customer_id`)}
  and invoice_status = 'DRAFT' and invoices.status = 'published' and invoice_type = 'SUBSCRIPTION'
  and not is_manually_edited and revision = 0 and source_type is null
  and last_computed_at <= ${timeline.at}::timestamptz - interval '1 day'`;

/** Environments that recompute drafts, and have drafts that are due. */
export async function scopesWithDraftsToRecompute(db: Db, timeline: Timeline): Promise<Scope[]> {
  return await db<Scope[]>`
    select distinct invoices.tenant_id, invoices.environment_id
      from settings s join invoices on invoices.tenant_id = s.tenant_id and invoices.environment_id = s.environment_id
     where s.key = 'draft_invoice_recompute_config' and (s.value ->> 'enabled')::boolean
       and ${due(db, timeline)}
     order by invoices.tenant_id, invoices.environment_id`;
}

/**
 * The drafts of the clock's customers that are due to be computed again. Invoices are read only if the environment
 * recomputes drafts.
 */
export const draftsToRecomputeOf = (db: Db, clock: ClockRef, at: string): Fragment => db`
  select id from invoices
   where exists (select from settings
                  where ${inScope(db, clock)} and key = 'draft_invoice_recompute_config'
                    and (value ->> 'enabled')::boolean)
     and ${inScope(db, clock)} and ${due(db, { at, test_clock_id: clock.id })}`;

/** A page of drafts to compute again, in the order of their ids. */
export async function draftsToRecompute(
  db: Db,
  scope: Scope,
  page: { readonly due: Timeline; readonly after: string; readonly limit: number },
): Promise<InvoiceRecord[]> {
  return await db<InvoiceRecord[]>`
    select ${columnList(db, INVOICE_COLUMNS)} from invoices
     where ${inScope(db, scope)} and ${due(db, page.due)} and id > ${page.after}
     order by id limit ${page.limit}`;
}
