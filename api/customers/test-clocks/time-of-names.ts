import { invalidOperation } from '../../../domain/errors.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import { hasTestClock } from './has-test-clock.ts';
import { findTimesOfNames, mayHaveTime, type Names } from './time-repository.ts';

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
  if (!mayHaveTime(names) || !(await hasTestClock(db, scope))) return null;
  const times = await findTimesOfNames(db, scope, names);
  if (times.length < 2) return times[0]?.now ?? null;
  if (!isWrite) return null;
  throw invalidOperation(
    'The request names customers of different test clocks, or with and without one. Use customers of one clock.',
    'test_clock_id',
  );
}
