import type { IdPrefix } from '../../../platform/ids.ts';
import { inScope, oneOf, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';

/** What a request names: ids of records, and external ids of customers. */
export interface Names {
  readonly ids: readonly string[];
  readonly external_ids: readonly string[];
  readonly test_clock_ids: readonly string[];
}

/**
 * Tables whose records belong to a customer, and to a subscription, by the prefix of their ids. Only the tables that
 * the ids of a request name are read: all of them took 30 ms per request.
 */
export const OF_CUSTOMERS: Readonly<Partial<Record<IdPrefix, string>>> = {
  subs: 'subscriptions', subs_line: 'subscription_line_items', inv: 'invoices', inv_line: 'invoice_line_items',
  wallet: 'wallets', wtxn: 'wallet_transactions', pay: 'payments', refund: 'refunds', cn: 'credit_notes',
  cs: 'checkout_sessions', pm: 'payment_methods',
}; // prettier-ignore
export const OF_SUBSCRIPTIONS: Readonly<Partial<Record<IdPrefix, string>>> = {
  addon_assoc: 'addon_associations', coupon_assoc: 'coupon_associations', cg: 'credit_grants',
  cga: 'credit_grant_applications', subs_change: 'subscription_changes', pause: 'subscription_pauses',
  phase: 'subscription_phases', sched: 'subscription_schedules',
}; // prettier-ignore
const CUSTOMER = 'cust';

const prefixOf = (id: string): string => id.slice(0, Math.max(0, id.lastIndexOf('_')));

/** Ids by their prefix. */
function byPrefix(ids: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const id of ids) {
    const prefix = prefixOf(id);
    found.set(prefix, [...(found.get(prefix) ?? []), id]);
  }
  return found;
}

/** The time of customers: that of a test clock, or null for real time. */
export interface CustomerTime {
  readonly test_clock_id: string | null;
  readonly now: string | null;
}

/** Whether the environment has a test clock. */
export async function findAnyTestClock(db: Db, scope: Scope): Promise<boolean> {
  const [any] = await db`select 1 from test_clocks where ${inScope(db, scope)} limit 1`;
  return any !== undefined;
}

/** Whether a name can be that of a customer's record or of a test clock: others have no time. */
export const mayHaveTime = ({ ids, external_ids, test_clock_ids }: Names): boolean =>
  external_ids.length > 0 || test_clock_ids.length > 0 || ids.some((id) => hasOwner(prefixOf(id)));

const hasOwner = (prefix: string): boolean =>
  prefix === CUSTOMER ||
  Object.hasOwn(OF_CUSTOMERS, prefix) ||
  Object.hasOwn(OF_SUBSCRIPTIONS, prefix);

/**
 * The different times of the named customers and test clocks, unordered. The customers are those that are named, and
 * those that own the other named records. Empty if nothing named has a time.
 */
export async function findTimesOfNames(
  db: Db,
  scope: Scope,
  names: Names,
): Promise<CustomerTime[]> {
  const { test_clock_ids } = names;
  const customers = customersOf(db, scope, names);
  if (customers === null && test_clock_ids.length === 0) return [];
  const selects: Fragment[] = [];
  if (customers !== null)
    selects.push(db`
      select distinct c.test_clock_id, k.now
        from customers c left join test_clocks k on k.id = c.test_clock_id
       where ${inScope(db, scope, 'c')} and c.id in (${customers})`);
  if (test_clock_ids.length > 0)
    selects.push(db`
      select id, now from test_clocks
       where ${inScope(db, scope)} and id ${oneOf(db, test_clock_ids)}`);
  return await db<CustomerTime[]>`
    ${selects.reduce((all, each) => db`${all} union ${each}`)}`;
}

/** A select of the ids of the named customers, or null if no name can be one of a customer's records. */
function customersOf(db: Db, scope: Scope, { ids, external_ids }: Names): Fragment | null {
  const named = byPrefix(ids);
  const parts: Fragment[] = [...named].flatMap(([prefix, of]): Fragment[] => {
    if (prefix === CUSTOMER)
      return [db`select id from customers where ${inScope(db, scope)} and id ${oneOf(db, of)}`];
    const table = OF_CUSTOMERS[prefix as IdPrefix];
    if (table !== undefined)
      return [
        db`select customer_id from ${db(table)} where ${inScope(db, scope)} and id ${oneOf(db, of)}`,
      ];
    const owned = OF_SUBSCRIPTIONS[prefix as IdPrefix];
    if (owned === undefined) return [];
    return [
      db`
        select s.customer_id from ${db(owned)} o join subscriptions s on s.id = o.subscription_id
         where ${inScope(db, scope, 'o')} and ${inScope(db, scope, 's')} and o.id ${oneOf(db, of)}`,
    ];
  });
  if (external_ids.length > 0)
    parts.push(db`
      select id from customers
       where ${inScope(db, scope)} and external_id ${oneOf(db, external_ids)} and status = 'published'`);
  if (parts.length === 0) return null;
  return parts.reduce((all, each) => db`${all} union all ${each}`);
}
