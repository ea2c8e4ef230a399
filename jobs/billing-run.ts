import type { BillingRun } from '../api/billing/billing-run.ts';
import type { Scope } from '../postgres/client.ts';
import { holdJobLease } from '../postgres/tables/job-leases.ts';
import type { JobRun } from './job.ts';

/** The run of a job in one environment; its transactions hold the job's lease. */
export const billingRunOf = (run: JobRun, scope: Scope): BillingRun => ({
  scope,
  user_id: '',
  at: run.at,
  hold: (tx) => holdJobLease(tx, run.lease),
});
