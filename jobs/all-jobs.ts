import type { LogCorrectionsDeps } from '../api/usage/corrections/log-corrections.ts';
import type { BillingDeps } from '../api/deps.ts';
import { readLogHeads } from '../api/read-log-heads.ts';
import type { EventLog } from '../platform/event-log/event-log.ts';
import { advanceTestClocks } from './advance-test-clocks.ts';
import { auditWallets } from './audit-wallets.ts';
import { applyCreditGrants } from './apply-credit-grants.ts';
import { cancelUnpaidSubscriptions } from './cancel-unpaid-subscriptions.ts';
import { chainAuditLogRows } from './chain-audit-log.ts';
import { collectInvoices } from './collect-invoices.ts';
import { closeBillingPeriods } from './close-billing-periods.ts';
import { createOutbound } from '../platform/outbound/guarded-request.ts';
import { deliverWebhooks, type DeliverWebhooksDeps } from './deliver-webhooks.ts';
import { eraseEvents, type EraseEventsDeps } from './erase-events.ts';
import { evaluateAlerts } from './evaluate-alerts.ts';
import { evaluateWallets } from './evaluate-wallets.ts';
import { expireCredits } from './expire-credits.ts';
import { expireCheckouts } from './expire-checkouts.ts';
import { expireLogRecords } from './expire-log-records.ts';
import {
  finalizeDraftInvoices,
  type FinalizeDraftInvoicesDeps,
} from './finalize-draft-invoices.ts';
import { forgetExpiredRecords } from './forget-expired-records.ts';
import { importEvents, type ImportEventsDeps } from './import-events.ts';
import type { Job } from './job.ts';
import { logMissedCorrections } from './log-corrections.ts';
import { reconcilePayments } from './reconcile-payments.ts';
import { notifyOverdueInvoices } from './notify-overdue-invoices.ts';
import { notifyRenewals } from './notify-renewals.ts';
import { onboardCustomers } from './onboard-customers.ts';
import { recomputeDraftInvoices } from './recompute-draft-invoices.ts';
import { runScheduledExports, type RunScheduledExportsDeps } from './run-scheduled-exports.ts';
import { syncPlanPrices } from './sync-plan-prices.ts';
import { tellAuditHeads } from './tell-audit-heads.ts';

export type JobDeps = FinalizeDraftInvoicesDeps &
  LogCorrectionsDeps &
  ImportEventsDeps &
  DeliverWebhooksDeps &
  RunScheduledExportsDeps &
  EraseEventsDeps & { readonly eventLog: EventLog };

/** Jobs of which each run takes the work of all tenants, in the order of an advance. */
const SCHEDULED: readonly Job<JobDeps>[] = [
  onboardCustomers,
  closeBillingPeriods,
  applyCreditGrants,
  evaluateWallets,
  evaluateAlerts,
  expireCredits,
  auditWallets,
  cancelUnpaidSubscriptions,
  finalizeDraftInvoices,
  recomputeDraftInvoices,
  notifyOverdueInvoices,
  collectInvoices,
  notifyRenewals,
  reconcilePayments,
  expireCheckouts,
  expireLogRecords,
  forgetExpiredRecords,
  logMissedCorrections,
  importEvents,
  runScheduledExports,
  syncPlanPrices,
  eraseEvents,
  chainAuditLogRows,
  deliverWebhooks,
  tellAuditHeads,
];

/** All scheduled jobs. An advance of a test clock runs those that work on customers. */
export const ALL_JOBS: readonly Job<JobDeps>[] = [...SCHEDULED, advanceTestClocks(SCHEDULED)];

/**
 * Dependencies of jobs in addition to those of the API's commands. `streamGroup` is the consumer group with
 * which the stream reads the log; `importEvents` appends a file's events to it.
 */
export function jobDeps(
  deps: BillingDeps,
  eventLog: EventLog,
  streamGroup: string,
  importEvents: ImportEventsDeps['importEvents'],
  events: Pick<JobDeps, 'eventEraser' | 'eventReader'>,
): JobDeps {
  return {
    ...deps,
    eventLog,
    importEvents,
    ...events,
    outbound: createOutbound(),
    openEventLog: async () => eventLog,
    readLogHeads: () => readLogHeads(deps.pool, eventLog, streamGroup),
  };
}
