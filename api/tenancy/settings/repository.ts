import { inScope, type Scope, type Transaction } from '../../../postgres/client.ts';

/**
 * One of the currencies that is in use at `at` (ISO 8601), and the table that uses it: prices that have not ended,
 * subscriptions that are not cancelled, coupons. Null if none is in use.
 */
export async function findCurrencyInUse(
  tx: Transaction,
  scope: Scope,
  codes: string[],
  at: string,
): Promise<{ readonly currency: string; readonly by: string } | null> {
  const [used] = await tx<{ currency: string; by: string }[]>`
    select currency, 'prices' as by from prices
     where ${inScope(tx, scope)} and currency = any(${codes})
       and status = 'published' and (end_date is null or end_date > ${at})
    union all
    select currency, 'subscriptions' from subscriptions
     where ${inScope(tx, scope)} and currency = any(${codes})
       and status = 'published' and subscription_status <> 'cancelled'
    union all
    select currency, 'coupons' from coupons
     where ${inScope(tx, scope)} and currency = any(${codes}) and status = 'published'
     limit 1`;
  return used ?? null;
}
