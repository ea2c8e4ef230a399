import { invalidOperation } from '../../../domain/errors.ts';
import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';

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

/** Tables whose records belong to a customer, and to a subscription. */
const OF_CUSTOMERS = [
  'subscriptions', 'subscription_line_items', 'invoices', 'invoice_line_items', 'wallets',
  'wallet_transactions', 'payments', 'refunds', 'credit_notes', 'checkout_sessions', 'payment_methods',
] as const; // prettier-ignore
const OF_SUBSCRIPTIONS = [
  'addon_associations', 'coupon_associations', 'credit_grants', 'credit_grant_applications',
  'subscription_changes', 'subscription_pauses', 'subscription_phases', 'subscription_schedules',
] as const; // prettier-ignore

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
  const { ids, external_ids, test_clock_ids } = names;
  if (ids.length + external_ids.length + test_clock_ids.length === 0) return null;
  const [any] = await db`select 1 from test_clocks where ${inScope(db, scope)} limit 1`;
  if (any === undefined) return null;
  const times = await db<{ test_clock_id: string | null; now: string | null }[]>`
    select distinct c.test_clock_id, k.now
      from customers c left join test_clocks k on k.id = c.test_clock_id
     where ${inScope(db, scope, 'c')} and c.id in (${customersOf(db, scope, names)})
     union
    select id, now from test_clocks
     where ${inScope(db, scope)} and id = any(${test_clock_ids as string[]})`;
  if (times.length < 2) return times[0]?.now ?? null;
  if (!isWrite) return null;
  throw invalidOperation(
    'The request names customers of different test clocks, or with and without one. Use customers of one clock.',
    'test_clock_id',
  );
}

function customersOf(db: Db, scope: Scope, { ids, external_ids }: Names): Fragment {
  const named = ids as string[];
  const direct = db`
    select id from customers
     where ${inScope(db, scope)}
       and (id = any(${named})
            or (external_id = any(${external_ids as string[]}) and status = 'published'))`;
  const ofCustomers = OF_CUSTOMERS.map(
    (table) =>
      db`select customer_id from ${db(table)} where ${inScope(db, scope)} and id = any(${named})`,
  );
  const ofSubscriptions = OF_SUBSCRIPTIONS.map(
    (table) => db`
      select s.customer_id from ${db(table)} o join subscriptions s on s.id = o.subscription_id
       where ${inScope(db, scope, 'o')} and o.id = any(${named})`,
  );
  return [...ofCustomers, ...ofSubscriptions].reduce(
    (all: Fragment, each) => db`${all} union all ${each}`,
    direct,
  );
}
