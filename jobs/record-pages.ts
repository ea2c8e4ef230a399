import { isGatewaySilent } from '../api/billing/gateways/open-gateway.ts';
import { isOutage } from '../api/outage.ts';
import type { Scope } from '../postgres/client.ts';
import { JobLeaseLost } from '../postgres/tables/job-leases.ts';
import type { JobRun } from './job.ts';
import { takeTurns, type Turn } from './scope-turns.ts';

/** The records of one environment that a job works on, each by itself. */
export interface RecordWork<Key> {
  /** Records per turn. */
  readonly page: number;
  /** A page of the records after the last one of the page before; null: the first page. */
  find(after: Key | null, limit: number): Promise<Key[]>;
  work(key: Key): Promise<void>;
  /** The records of a page are worked on at the same time: the work waits for a gateway. */
  readonly isAtOnce?: boolean;
  /** The ids of a record that failed, and what was not done to it, for the log. */
  readonly failed: (key: Key) => readonly [ids: Readonly<Record<string, string>>, message: string];
}

/**
 * Works on the records of each environment. Environments take turns, a page each (`takeTurns`, `recordPages`).
 */
export const workOnRecords = <Key>(
  run: JobRun,
  scopes: readonly Scope[],
  totals: { failed: number },
  recordsOf: (scope: Scope) => RecordWork<Key>,
): Promise<void> =>
  takeTurns(run, scopes, (scope) => recordPages(run, scope, totals, recordsOf(scope)));

/**
 * Works on the records of one environment, a page per turn. A record that fails is counted and logged, and does not
 * stop the others; it stays due for the next run. Throws if the lease is lost or a store is unavailable.
 */
export function recordPages<Key>(
  run: Pick<JobRun, 'signal' | 'fail'>,
  scope: Scope,
  totals: { failed: number },
  records: RecordWork<Key>,
): Turn {
  const each = async (key: Key): Promise<void> => {
    try {
      await records.work(key);
    } catch (error) {
      if (error instanceof JobLeaseLost || isOutageOfStore(error)) throw error;
      const [ids, message] = records.failed(key);
      totals.failed += 1;
      run.fail?.({ ...ids, ...scope }, error, message);
    }
  };
  let after: Key | null = null;
  return async () => {
    const page = await records.find(after, records.page);
    if (records.isAtOnce === true) await allOf(page.map(each));
    else
      for (const key of page) {
        if (run.signal.aborted) return false;
        await each(key);
      }
    after = page.at(-1) ?? after;
    return page.length === records.page;
  };
}

/** A gateway that is silent concerns the records of its connection: the others go on. */
const isOutageOfStore = (error: unknown): boolean => isOutage(error) && !isGatewaySilent(error);

/** Waits for all, also if one throws, so that no work goes on after its turn. Throws the first failure. */
async function allOf(work: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(work))
    if (result.status === 'rejected') throw result.reason;
}
