import type { DashboardSummary } from '../../../schemas/dashboard.ts';
import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import type { Instant } from '../../../domain/time/instant.ts';

export type Figures = Omit<DashboardSummary['currencies'][number], 'currency' | 'mrr'>;

interface Range {
  readonly start: Instant | null;
  readonly end: Instant | null;
}

const within = (db: Db, column: string, { start, end }: Range): Fragment => db`
  ${start === null ? db`` : db`and ${db(column)} >= ${start}`}
  ${end === null ? db`` : db`and ${db(column)} < ${end}`}`;

/** Invoices issued in the range and still valid; what is open and overdue of them at `at`. */
export function invoiceFigures(db: Db, scope: Scope, range: Range, at: Instant) {
  const open = db`amount_remaining > 0`;
  const overdue = db`${open} and due_date < ${at}`;
  return db<
    (Pick<Figures, 'invoiced_amount' | 'open_amount' | 'overdue_amount'> & { currency: string })[]
  >`
    select currency, sum(total) as invoiced_amount, count(*)::int as invoiced_count,
           coalesce(sum(amount_remaining) filter (where ${open}), 0) as open_amount,
           count(*) filter (where ${open})::int as open_count,
           coalesce(sum(amount_remaining) filter (where ${overdue}), 0) as overdue_amount,
           count(*) filter (where ${overdue})::int as overdue_count
      from invoices
     where ${inScope(db, scope)} and status = 'published' and invoice_status = 'FINALIZED'
           ${within(db, 'finalized_at', range)}
     group by currency`;
}

/** Payments that succeeded in the range. Credits of a wallet were paid for earlier and do not count. */
export function paymentFigures(db: Db, scope: Scope, range: Range) {
  return db<(Pick<Figures, 'collected_amount'> & { currency: string })[]>`
    select currency, sum(amount) as collected_amount, count(*)::int as collected_count
      from payments
     where ${inScope(db, scope)} and status = 'published' and payment_method_type <> 'CREDITS'
       and payment_status in ('SUCCEEDED', 'OVERPAID', 'REFUNDED', 'PARTIALLY_REFUNDED')
           ${within(db, 'succeeded_at', range)}
     group by currency`;
}
