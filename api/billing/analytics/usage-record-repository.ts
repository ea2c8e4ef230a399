import type { z } from 'zod';
import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import type { Page } from '../../../schemas/search.ts';
import type { UsageRecord, UsageRecordSearch } from '../../../schemas/usage-record.ts';

/**
 * Usage of subscriptions per period, newest first: the sum of the usage lines of finalized invoices, so a
 * record always equals what was billed.
 */
export function searchUsageRecords(
  db: Db,
  scope: Scope,
  filter: z.output<typeof UsageRecordSearch.body>,
): Promise<Page<UsageRecord>> {
  const { search } = filter;
  const records = db`
    (select i.id, i.tenant_id, i.environment_id, i.status, i.created_at, i.updated_at, i.created_by,
            i.updated_by, i.customer_id, c.external_id as customer_external_id, i.subscription_id,
            s.plan_id, i.currency, i.period_start, i.period_end, false as synced, '{}'::jsonb as syncs,
            ${sumOfRows(db, db`l.amount`)} as amount,
            ${sumOfRows(db, db`case when l.kind = 'base' then l.quantity else 0 end`)} as quantity
       from invoices i
       join customers c on c.id = i.customer_id
       join subscriptions s on s.id = i.subscription_id
      where ${inScope(db, scope, 'i')} and i.invoice_status = 'FINALIZED'
        and i.period_start is not null and i.period_end is not null
        and exists (select from invoice_line_items l where ${ofUsage(db)})) as usage_records`;
  const where = db`status = ${search.status ?? 'published'}
    ${filter.customer_id ? db`and customer_id = ${filter.customer_id}` : db``}
    ${filter.customer_external_id ? db`and customer_external_id = ${filter.customer_external_id}` : db``}
    ${filter.subscription_id ? db`and subscription_id = ${filter.subscription_id}` : db``}
    ${filter.plan_id ? db`and plan_id = ${filter.plan_id}` : db``}
    ${filter.currency ? db`and currency = ${filter.currency.toLowerCase()}` : db``}
    ${filter.period_start ? db`and period_start >= ${filter.period_start}` : db``}
    ${filter.period_end ? db`and period_end <= ${filter.period_end}` : db``}
    ${filter.synced == null ? db`` : db`and synced = ${filter.synced}`}`;
  return findPage<UsageRecord>(db, { columns: db`*`, from: records, where, search });
}

/** SQL: the usage rows `l` of the invoice `i`. */
const ofUsage = (db: Db): Fragment => db`l.invoice_id = i.id and l.price_type = 'USAGE'`;

/** SQL: a sum over the usage rows of the invoice `i`: computed for the rows of a page, and not to count all. */
const sumOfRows = (db: Db, value: Fragment): Fragment => db`
  (select sum(${value}) from invoice_line_items l where ${ofUsage(db)})::float8`;
