import { inScope, type Db, type Fragment, type Pool, type Scope } from '../client.ts';

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
