import type { BillingPeriod } from '../../../domain/pricing/cadence.ts';
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

const isValid = (db: Db, scope: Scope): Fragment => db`
  ${inScope(db, scope)} and status = 'published' and invoice_status = 'FINALIZED'`;

/** Invoices issued in the range and still valid. From `invoices_issued_idx` alone. */
export function issuedFigures(db: Db, scope: Scope, range: Range) {
  return db<(Pick<Figures, 'invoiced_amount' | 'invoiced_count'> & { currency: string })[]>`
    select currency, sum(total) as invoiced_amount, count(*)::int as invoiced_count
      from invoices
     where ${isValid(db, scope)} ${within(db, 'finalized_at', range)}
     group by currency`;
}

/**
 * What is open and overdue at `at` of the valid invoices: of those issued in the range, or of all (null), which is read
 * from `invoices_open_idx` alone.
 */
export function openFigures(db: Db, scope: Scope, range: Range | null, at: Instant) {
  const overdue = db`due_date < ${at}`;
  return db<
    (Omit<
      Figures,
      'invoiced_amount' | 'invoiced_count' | 'collected_amount' | 'collected_count'
    > & { currency: string })[]
  >`
    select currency, sum(amount_remaining) as open_amount, count(*)::int as open_count,
           coalesce(sum(amount_remaining) filter (where ${overdue}), 0) as overdue_amount,
           count(*) filter (where ${overdue})::int as overdue_count
      from invoices
     where ${isValid(db, scope)} and amount_remaining > 0
           ${range === null ? db`` : within(db, 'finalized_at', range)}
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

/** The recurring fee of a line item of an active subscription. */
export interface Fee {
  readonly currency: string;
  readonly billing_period: BillingPeriod;
  readonly billing_period_count: number;
  readonly price_id: string;
  readonly quantity: string;
  readonly line_billing_period: BillingPeriod;
  readonly line_billing_period_count: number;
}

const feeColumns = (db: Db): Fragment => db`
  s.currency, s.billing_period, s.billing_period_count, l.price_id, l.quantity,
  l.billing_period as line_billing_period, l.billing_period_count as line_billing_period_count`;

/** Recurring fees of active subscriptions that run at `at`. */
const fees = (db: Db, scope: Scope, at: Instant): Fragment => db`
    from subscriptions s
    join subscription_line_items l on ${inScope(db, scope, 'l')} and l.subscription_id = s.id
   where ${inScope(db, scope, 's')} and s.status = 'published' and s.subscription_status = 'active'
     and l.status = 'published' and l.price_type = 'FIXED' and l.billing_period <> 'ONETIME'
     and l.start_date <= ${at} and (l.end_date is null or l.end_date > ${at})`;

/** Whether a coupon applies to the subscription at `at`. */
const isDiscounted = (db: Db, scope: Scope, at: Instant): Fragment => db`exists (
    select 1 from coupon_associations a
     where ${inScope(db, scope, 'a')} and a.subscription_id = s.id and a.status = 'published'
       and a.start_date <= ${at} and (a.end_date is null or a.end_date > ${at}))`;

/** Fees of subscriptions without coupons at `at`, equal ones counted, unordered. */
export async function undiscountedFees(
  db: Db,
  scope: Scope,
  at: Instant,
): Promise<(Fee & { readonly times: number })[]> {
  return await db<(Fee & { times: number })[]>`
    select ${feeColumns(db)}, count(*)::int as times
           ${fees(db, scope, at)} and not ${isDiscounted(db, scope, at)}
     group by 1, 2, 3, 4, 5, 6, 7`;
}

/** Fees of subscriptions with coupons at `at`, each with its line item and subscription, unordered. */
export async function discountedFees(
  db: Db,
  scope: Scope,
  at: Instant,
): Promise<(Fee & { readonly id: string; readonly subscription_id: string })[]> {
  return await db<(Fee & { id: string; subscription_id: string })[]>`
    select ${feeColumns(db)}, l.id, l.subscription_id
           ${fees(db, scope, at)} and ${isDiscounted(db, scope, at)}`;
}
