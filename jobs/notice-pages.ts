import type { BillingDeps } from '../api/deps.ts';
import { isOutage } from '../api/outage.ts';
import type { Scope, Transaction } from '../postgres/client.ts';
import { holdJobLease, JobLeaseLost } from '../postgres/tables/job-leases.ts';
import type { JobRun } from './job.ts';
import type { Turn } from './scope-turns.ts';

/** Records per transaction. */
const PAGE = 200;

/** Notifications that a job sends once for each record. */
export interface Notices {
  /** Ids of records that are not notified yet, greater than `after`, in order. */
  find(after: string, limit: number): Promise<string[]>;
  /** Marks the records that are still not notified, and sends their notifications. Returns their number. */
  send(tx: Transaction, ids: readonly string[]): Promise<number>;
  /** The field of the log with the id of a record that failed. */
  readonly name: string;
}

export interface NoticeTotals {
  notified: number;
  failed: number;
}

/**
 * Sends the notifications of one environment, a page in one transaction. If a page fails, each of its records is
 * repeated in a transaction of its own, so that a record that fails stops no other.
 */
export function noticePages(
  deps: BillingDeps,
  run: JobRun,
  scope: Scope,
  totals: NoticeTotals,
  notices: Notices,
): Turn {
  const sent = (ids: readonly string[]): Promise<number> =>
    deps.pool.begin(async (tx) => {
      await holdJobLease(tx, run.lease);
      return await notices.send(tx, ids);
    });
  const each = async (id: string) => {
    try {
      totals.notified += await sent([id]);
    } catch (error) {
      if (error instanceof JobLeaseLost || isOutage(error)) throw error;
      totals.failed += 1;
      run.fail?.({ [notices.name]: id, ...scope }, error, 'notification not sent');
    }
  };
  let after = '';
  return async () => {
    const ids = await notices.find(after, PAGE);
    if (ids.length === 0) return false;
    try {
      totals.notified += await sent(ids);
    } catch (error) {
      if (error instanceof JobLeaseLost || isOutage(error)) throw error;
      for (const id of ids) {
        if (run.signal.aborted) return false;
        await each(id);
      }
    }
    after = ids.at(-1)!;
    return ids.length === PAGE;
  };
}
