import type { ClockTime } from '../../domain/time/clock-times.ts';
import {
  inScope,
  type Db,
  type Fragment,
  type Pool,
  type Scope,
  type Transaction,
} from '../client.ts';

/** The customers that a run of a job processes, and their time. */
export interface Timeline {
  /** Time of the run, ISO 8601 UTC; work is due relative to it. */
  readonly at: string;
  /** The test clock of the customers. Null or unset: the customers in real time. */
  readonly test_clock_id?: string | null;
}

/** A test clock in its environment. */
export interface ClockRef extends Scope {
  readonly id: string;
}

/**
 * Condition: `c` is a customer of the clock and the row of `alias` is in its environment. Both sides name the
 * environment, so that the indexes that begin with it are used.
 */
export const ownedBy = (db: Db, clock: ClockRef, alias: string): Fragment => db`
  ${inScope(db, clock, 'c')} and c.test_clock_id = ${clock.id} and ${inScope(db, clock, alias)}`;

/** Condition: the customer with that id lives by the clock of the timeline. */
export const livesBy = (
  db: Db,
  { test_clock_id }: Pick<Timeline, 'test_clock_id'>,
  customerId: Fragment,
): Fragment =>
  test_clock_id == null
    ? db`not exists (
        select from customers clocked where clocked.id = ${customerId} and clocked.test_clock_id is not null)`
    : db`exists (
        select from customers clocked where clocked.id = ${customerId} and clocked.test_clock_id = ${test_clock_id})`;

/** SQL: the environments in which customers can live by that timeline, as `tenant_id` and `environment_id`. */
export const environmentsOf = (
  db: Db,
  { test_clock_id }: Pick<Timeline, 'test_clock_id'>,
): Fragment =>
  test_clock_id == null
    ? db`select tenant_id, id as environment_id from environments`
    : db`select tenant_id, environment_id from test_clocks where id = ${test_clock_id}`;

/** The time of each customer by external id, in epoch milliseconds; null for customers in real time. */
export type TimeOfCustomer = (externalId: string) => number | null;
export type CustomerTimes = (scope: Scope) => Promise<TimeOfCustomer | null>;

/**
 * Reads the times of the customers of an environment that live by test clocks (billing 22.3). The answer is null if
 * there are none. Clocks are read at every call, so the times are current; the customers of a clock are read again
 * only after one of them has changed.
 */
export function createCustomerTimes(pool: Pool): CustomerTimes {
  const known = new Map<string, { readonly members: string; readonly externalIds: Set<string> }>();
  return async (scope) => {
    const clocks = await pool<{ id: string; now: string; members: string }[]>`
      select id, now, members from test_clocks
       where ${inScope(pool, scope)} and status <> 'archived'`;
    if (clocks.length === 0) return null;
    const owned = await Promise.all(
      clocks.map(async ({ id, now, members }) => {
        const before = known.get(id);
        const now_ms = Date.parse(now);
        if (before?.members === members) return { now_ms, externalIds: before.externalIds };
        const rows = await pool<{ external_id: string }[]>`
          select external_id from customers
           where ${inScope(pool, scope)} and test_clock_id = ${id} and status = 'published'`;
        const externalIds = new Set(rows.map(({ external_id }) => external_id));
        known.set(id, { members, externalIds });
        return { now_ms, externalIds };
      }),
    );
    return (externalId) =>
      owned.find(({ externalIds }) => externalIds.has(externalId))?.now_ms ?? null;
  };
}

/** Notes that a test clock has its present time from a real instant on. */
export async function noteClockTime(tx: Transaction, id: string, realFrom: string): Promise<void> {
  await tx`
    insert into test_clock_times (test_clock_id, tenant_id, environment_id, real_from, now)
    select id, tenant_id, environment_id, ${realFrom}, now from test_clocks where id = ${id}
        on conflict (test_clock_id, real_from) do update set now = excluded.now`;
}

/**
 * By subscription, the times that the test clock of its customer had, in order. Subscriptions in real time are not in
 * the answer.
 */
export async function clockTimesOf(
  db: Db,
  scope: Scope,
  subscriptionIds: readonly string[],
): Promise<ReadonlyMap<string, readonly ClockTime[]>> {
  const rows = await db<({ subscription_id: string } & ClockTime)[]>`
    select s.id as subscription_id, t.real_from, t.now
      from subscriptions s
      join customers c on c.id = s.customer_id and c.test_clock_id is not null
      join test_clock_times t on t.test_clock_id = c.test_clock_id
     where ${inScope(db, scope, 's')} and s.id = any(${subscriptionIds as string[]}::text[])
     order by t.real_from`;
  const times = new Map<string, ClockTime[]>();
  for (const { subscription_id, ...time } of rows) {
    const known = times.get(subscription_id);
    if (known === undefined) times.set(subscription_id, [time]);
    else known.push(time);
  }
  return times;
}
