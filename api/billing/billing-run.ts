import type { Transaction } from '../../postgres/client.ts';
import type { Caller } from '../conventions/record.ts';

/** Who bills one environment, and at what time: a job, or the request that catches up with it. */
export interface BillingRun extends Caller {
  /** The time by which work is due, and the time of what is written. */
  readonly at: string;
  /** Called first in every transaction: fails if another process has taken over the job. */
  hold(tx: Transaction): Promise<void>;
}

/** A run within a request: no other process can take it over. */
export const ownRun = ({ scope, user_id }: Caller, at: string): BillingRun => ({
  scope,
  user_id,
  at,
  hold: async () => {},
});
