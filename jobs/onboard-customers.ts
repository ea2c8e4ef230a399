import { runAction } from '../api/billing/onboarding/run-action.ts';
import {
  dueOnboardings,
  lockOnboarding,
  noteOnboarding,
  onboardingDueTimes,
  type DueOnboarding,
} from '../api/billing/onboarding/repository.ts';
import { collectNow } from '../api/billing/payments/collect-invoice.ts';
import type { BillingDeps } from '../api/deps.ts';
import { isOutage } from '../api/outage.ts';
import { BillingError } from '../domain/errors.ts';
import { epochMs, isoText } from '../domain/time/instant.ts';
import { failpoint } from '../platform/failpoint.ts';
import { isPostgresRace } from '../postgres/outage.ts';
import { scopedPool } from '../postgres/scoped-pool.ts';
import { holdJobLease, JobLeaseLost } from '../postgres/tables/job-leases.ts';
import type { Job, JobRun } from './job.ts';

const PAGE = 50;
/** Waits after unexpected errors; after the last one the onboarding fails. */
const RETRY_MINUTES = [1, 5, 30, 120];
const SUMMARY_LENGTH_MAX = 2_000;

/**
 * Does for new customers what the setting `customer_onboarding` asks for (tenancy 16.1), one of each tenant
 * in turn. Each action is one transaction with the move past it: a stopped process neither loses nor repeats
 * one. An action that is refused does not stop the next ones; the onboarding then ends as failed, with the
 * reasons.
 */
export const onboardCustomers: Job<BillingDeps> = {
  name: 'onboard-customers',
  cron: '*/5 * * * * *',
  ofCustomers: { dueTimes: onboardingDueTimes },
  async run(deps, run) {
    const report = { completed: 0, failed: 0, retried: 0 };
    while (!run.signal.aborted) {
      const due = await dueOnboardings(deps.pool, run, PAGE);
      if (due.length === 0) break;
      for (const each of due) {
        if (run.signal.aborted) break;
        report[await onboard(atTimeOf(deps, each), run, each)] += 1;
      }
    }
    return report;
  },
};

/** Everything that is written has the time of the customer's test clock. */
function atTimeOf(deps: BillingDeps, { clock_time: time }: DueOnboarding): BillingDeps {
  if (time === null) return deps;
  const actor = { kind: 'system', job: onboardCustomers.name } as const;
  return {
    ...deps,
    clock: { now: () => epochMs(time) },
    pool: scopedPool(deps.pool, { scope: null, actor, time }),
  };
}

type Outcome = 'completed' | 'failed' | 'retried';

async function onboard(deps: BillingDeps, run: JobRun, due: DueOnboarding): Promise<Outcome> {
  for (;;) {
    try {
      const outcome = await step(deps, run, due);
      if (outcome !== 'next') return outcome;
    } catch (error) {
      if (isOutage(error) || isPostgresRace(error) || error instanceof JobLeaseLost) throw error;
      const outcome = await noteFailure(deps, run, due, error);
      if (outcome !== 'next') return outcome;
    }
  }
}

/** Does the next action. */
async function step(
  deps: BillingDeps,
  run: JobRun,
  { id, tenant_id, environment_id, clock_time }: DueOnboarding,
): Promise<Outcome | 'next'> {
  const caller = { scope: { tenant_id, environment_id }, user_id: '' };
  const { scope } = caller;
  let subscription: string | null = null;
  const outcome = await deps.pool.begin(async (tx) => {
    await holdJobLease(tx, run.lease);
    const row = await lockOnboarding(tx, scope, id);
    if (row.onboarding_status !== 'PENDING') return 'completed' as const;
    const action = row.actions[row.next_action];
    if (action === undefined) {
      const isWhole = row.error_summary === null;
      const onboarding_status = isWhole ? 'COMPLETED' : 'FAILED';
      await noteOnboarding(tx, scope, id, {
        onboarding_status,
        completed_at: clock_time ?? run.at,
      });
      return isWhole ? ('completed' as const) : ('failed' as const);
    }
    subscription = await runAction(tx, deps, caller, row.customer_id, action);
    await noteOnboarding(tx, scope, id, { next_action: row.next_action + 1, attempts: 0 });
    failpoint('jobs.onboard_customers.before_commit');
    return 'next' as const;
  });
  failpoint('jobs.onboard_customers.after_commit');
  // The collecting job does the same later if the process stops before it.
  if (subscription !== null) await collectNow(deps, caller, subscription);
  return outcome;
}

/** A refusal is noted and passed; anything else is tried again, then it fails. */
async function noteFailure(
  deps: BillingDeps,
  run: JobRun,
  { id, tenant_id, environment_id, clock_time }: DueOnboarding,
  error: unknown,
): Promise<Outcome | 'next'> {
  const scope = { tenant_id, environment_id };
  const at = clock_time ?? run.at;
  deps.log.warn({ err: error, onboarding_id: id }, 'onboarding action not done');
  return await deps.pool.begin(async (tx) => {
    await holdJobLease(tx, run.lease);
    const row = await lockOnboarding(tx, scope, id);
    if (row.onboarding_status !== 'PENDING') return 'completed' as const;
    const minutes = error instanceof BillingError ? undefined : RETRY_MINUTES[row.attempts];
    if (minutes !== undefined) {
      const due_at = isoText(epochMs(at) + minutes * 60_000);
      await noteOnboarding(tx, scope, id, { due_at, attempts: row.attempts + 1 });
      return 'retried' as const;
    }
    const message = error instanceof BillingError ? error.message : 'an unexpected error';
    const name = row.actions[row.next_action]?.action ?? 'onboarding';
    const summary = [row.error_summary, `${name}: ${message}`].filter(Boolean).join(' ');
    await noteOnboarding(tx, scope, id, {
      next_action: row.next_action + 1,
      attempts: 0,
      error_summary: summary.slice(0, SUMMARY_LENGTH_MAX),
    });
    return 'next' as const;
  });
}
