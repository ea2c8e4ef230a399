import type { BillingDeps } from '../api/deps.ts';
import { isOutage } from '../api/outage.ts';
import type { Scope, Transaction } from '../postgres/client.ts';
import { holdJobLease, JobLeaseLost } from '../postgres/tables/job-leases.ts';
import type { JobRun } from './job.ts';
import type { Turn } from './scope-turns.ts';

/** Records per transaction. */
const PAGE = 200;

/** What a job tells once about each record, and has told or not. */
export interface Notices {
  /** Ids greater than `after` of records that are not told yet, in order. */
  find(after: string, limit: number): Promise<string[]>;
  /** Marks those of them that are still not told, and sends their notifications. Returns their number. */
  send(tx: Transaction, ids: readonly string[]): Promise<number>;
  /** Names a record that failed in the log. */
  readonly name: string;
}

export interface NoticeTotals {
  notified: number;
  failed: number;
}

/**
 * Tells about the records of one environment, a page in one transaction. If that fails, each record of the page gets
 * its own, so that one that cannot be told stops no other.
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
