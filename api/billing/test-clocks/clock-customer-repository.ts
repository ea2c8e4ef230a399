import { inScope, type Db, type Scope } from '../../../postgres/client.ts';

/** Ids of the first published customers of the clock, in id order. */
export async function customersOfClock(
  db: Db,
  scope: Scope,
  clockId: string,
  limit: number,
): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id from customers
     where ${inScope(db, scope)} and test_clock_id = ${clockId} and status = 'published'
     order by id limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** Ids of the customer's subscriptions that have begun and not ended, in id order. */
export async function subscriptionsToCancel(
  db: Db,
  scope: Scope,
  customerId: string,
): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id from subscriptions
     where ${inScope(db, scope)} and customer_id = ${customerId} and status = 'published'
       and subscription_status in ('active', 'trialing', 'paused', 'incomplete')
     order by id`;
  return rows.map(({ id }) => id);
}
