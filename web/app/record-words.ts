import { formatWord } from '../ui/text.ts';

/** Kinds of records that the console names otherwise than the logs do. */
const RECORDS: Readonly<Record<string, string>> = {
  costsheet: 'Cost sheet',
  group: 'Price group',
};

export const recordInWords = (type: string): string => RECORDS[type] ?? formatWord(type);

/** Each job by what it does, in the form of a noun: `the erasure of events`. */
const JOBS: Readonly<Record<string, string>> = {
  'advance-test-clocks': 'the advance of test clocks',
  'apply-credit-grants': 'the granting of credits',
  'audit-wallets': 'the comparison of wallets with their transactions',
  'cancel-unpaid-subscriptions': 'the cancellation of unpaid subscriptions',
  'chain-audit-log': 'the chaining of the audit log',
  'close-billing-periods': 'the closing of the billing period',
  'collect-invoices': 'the collection of payments',
  'deliver-webhooks': 'the delivery of notifications',
  'erase-events': 'the erasure of events',
  'evaluate-alerts': 'the check of alerts',
  'evaluate-wallets': 'the check of wallet balances',
  'expire-checkouts': 'the expiry of payment pages',
  'expire-credits': 'the expiry of credits',
  'expire-log-records': 'the deletion of processed events from the log',
  'finalize-draft-invoices': 'the finalizing of invoices',
  'forget-expired-records': 'the deletion of expired records',
  'import-events': 'the import of files',
  'log-corrections': 'the recording of corrections',
  'notify-overdue-invoices': 'the reminder of overdue invoices',
  'notify-renewals': 'the notice of renewals',
  'onboard-customers': 'the onboarding of customers',
  'publish-notifications': 'the queueing of notifications',
  'recompute-draft-invoices': 'the daily computation of drafts',
  'reconcile-payments': 'the comparison with the gateway',
  'run-scheduled-exports': 'the scheduled exports',
  'send-emails': 'the sending of e-mails',
  'sync-plan-prices': 'the update of plan prices',
  'tell-audit-heads': 'the daily record of the audit chains',
};

/** A job in plain words; one without words of its own by its name: `the job “erase events”`. */
export const jobInWords = (job: string): string =>
  JOBS[job] ?? `the job “${job.replaceAll('-', ' ')}”`;
