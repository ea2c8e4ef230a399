import { invalidOperation } from '../../../domain/errors.ts';
import type { IdPrefix } from '../../../platform/ids.ts';
import { inScope, oneOf, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';

/** What a request names: ids of records, and external ids of customers. */
export interface Names {
  readonly ids: readonly string[];
  readonly external_ids: readonly string[];
  readonly test_clock_ids: readonly string[];
}

/** Names read from one request. A request with more is a bulk search, which has no time of its own. */
const NAMES_MAX = 200;

/** The ids and external ids under keys such as `id`, `customer_id`, `invoice_ids` and `external_customer_id`. */
export function namesIn(...parts: readonly unknown[]): Names {
  const found = {
    ids: new Set<string>(),
    external_ids: new Set<string>(),
    clocks: new Set<string>(),
  };
  let visited = 0;
  const take = (key: string, value: unknown): void => {
    if (typeof value === 'string') {
      if (value === '') return;
      if (/^test_clock_id$/.test(key)) found.clocks.add(value);
      else if (key.includes('external') || key === 'lookup_key') found.external_ids.add(value);
      else if (/(^|_)ids?$/.test(key)) found.ids.add(value);
    } else if (typeof value === 'object' && value !== null && (visited += 1) <= NAMES_MAX) {
      if (Array.isArray(value)) for (const item of value.slice(0, NAMES_MAX)) take(key, item);
      else for (const [name, item] of Object.entries(value)) take(name, item);
    }
  };
  for (const part of parts) take('', part);
  return {
    ids: [...found.ids].slice(0, NAMES_MAX),
    external_ids: [...found.external_ids].slice(0, NAMES_MAX),
    test_clock_ids: [...found.clocks],
  };
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

/** Ids by their prefix. */
function byPrefix(ids: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const id of ids) {
    const prefix = id.slice(0, Math.max(0, id.lastIndexOf('_')));
    found.set(prefix, [...(found.get(prefix) ?? []), id]);
  }
  return found;
}

/**
 * The time of the test clock that owns the named customers; null if they live in real time. The names may be
 * those of any record of a customer. With `isWrite`, customers of different clocks in one request are refused
 * with 400: nothing may join two times (billing 22.2). Reads across clocks take place in real time.
 */
export async function timeOfNames(
  db: Db,
  scope: Scope,
  names: Names,
  isWrite: boolean,
): Promise<string | null> {
  const { test_clock_ids } = names;
  const customers = customersOf(db, scope, names);
  if (customers === null && test_clock_ids.length === 0) return null;
  const [any] = await db`select 1 from test_clocks where ${inScope(db, scope)} limit 1`;
  if (any === undefined) return null;
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
  const times = await db<{ test_clock_id: string | null; now: string | null }[]>`
    ${selects.reduce((all, each) => db`${all} union ${each}`)}`;
  if (times.length < 2) return times[0]?.now ?? null;
  if (!isWrite) return null;
  throw invalidOperation(
    'The request names customers of different test clocks, or with and without one. Use customers of one clock.',
    'test_clock_id',
  );
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
