import { BillingError, invalidField } from '../../../domain/errors.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import { tableOf } from '../../../postgres/table.ts';
import { noteClockTime } from '../../../postgres/tables/test-clocks.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import type { StoredWatermarks } from '../../../schemas/invoice.ts';
import type { TestClock } from '../../../schemas/test-clock.ts';
import { findEnvironmentType } from '../../tenancy/environments/repository.ts';

const columns = (db: Db) => db`
  id, tenant_id, environment_id, name, now, status, advancing_to, error,
  created_at, updated_at, created_by, updated_by`;

const clocks = tableOf<TestClock>({ name: 'test_clocks', noun: 'Test clock', columns, json: [] });

/** The clock, including archived ones. 404 if it is unknown or belongs to another scope. */
export const getTestClock = clocks.get;
export const lockTestClock = clocks.lock;
export const changeTestClock = clocks.change;

/** Writes a new clock and notes its first time. */
export async function insertTestClock(tx: Transaction, clock: TestClock): Promise<TestClock> {
  const written = await clocks.insert(tx, clock);
  await noteClockTime(tx, written.id, written.created_at);
  return written;
}

/** Test clocks exist outside production only: 400 `not_in_production`. */
export async function assertNotInProduction(db: Db, scope: Scope): Promise<void> {
  if ((await findEnvironmentType(db, scope)) === 'production')
    throw new BillingError(
      'invalid',
      'not_in_production',
      'Test clocks exist only in environments that are not of type production.',
    );
}

/**
 * The clock of a new customer. It stays unarchived until the transaction ends. 400 `not_in_production`; 404 if
 * it is unknown; 400 if it was deleted.
 */
export async function testClockOfNewCustomer(
  tx: Transaction,
  scope: Scope,
  id: string,
): Promise<void> {
  await assertNotInProduction(tx, scope);
  const clock = await lockTestClock(tx, scope, id);
  if (clock.status === 'archived')
    throw invalidField('test_clock_id', `is a deleted clock; use a clock that exists`);
}

/** Starts an advance: the job moves the clock once the stream has passed `heads`. */
export async function startAdvance(
  tx: Transaction,
  scope: Scope,
  id: string,
  change: {
    readonly advancing_to: string;
    readonly updated_at: string;
    readonly updated_by: string;
  },
  heads: StoredWatermarks,
): Promise<TestClock> {
  const started = { ...change, status: 'advancing', error: null } as const;
  const also = tx`, stream_heads = ${tx.json(heads)}`;
  return await changeTestClock(tx, scope, id, started, also);
}

export interface TestClockFilter {
  readonly test_clock_ids?: string[] | null;
  readonly name?: string | null;
  readonly status?: string | null;
  readonly search: Search;
}

/** Without a status: all clocks that were not deleted. */
export function searchTestClocks(
  db: Db,
  scope: Scope,
  { test_clock_ids, name, status, search }: TestClockFilter,
): Promise<Page<TestClock>> {
  return findPage<TestClock>(db, {
    columns: columns(db),
    from: db`test_clocks`,
    where: db`${inScope(db, scope)}
      ${status == null ? db`and status <> 'archived'` : db`and status = ${status}`}
      ${test_clock_ids?.length ? db`and id = any(${test_clock_ids})` : db``}
      ${name ? db`and name = ${name}` : db``}`,
    search,
  });
}
