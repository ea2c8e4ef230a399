import { formatWord } from '../ui/text.ts';

/** Kinds of records that the console names otherwise than the logs do. */
const RECORDS: Readonly<Record<string, string>> = {
  costsheet: 'Cost sheet',
  group: 'Price group',
};

export const recordInWords = (type: string): string => RECORDS[type] ?? formatWord(type);

/** What the jobs do that change records of customers. */
const JOBS: Readonly<Record<string, string>> = {
  'apply-credit-grants': 'the granting of credits',
  'cancel-unpaid-subscriptions': 'the cancellation of unpaid subscriptions',
  'close-billing-periods': 'the closing of the billing period',
  'collect-invoices': 'the collection of payments',
  'evaluate-alerts': 'the check of alerts',
  'expire-checkouts': 'the expiry of payment pages',
  'expire-credits': 'the expiry of credits',
  'finalize-draft-invoices': 'the finalizing of invoices',
  'notify-overdue-invoices': 'the reminder of overdue invoices',
  'notify-renewals': 'the notice of renewals',
  'onboard-customers': 'the onboarding of customers',
  'recompute-draft-invoices': 'the daily computation of drafts',
  'reconcile-payments': 'the comparison with the gateway',
  'sync-plan-prices': 'the update of plan prices',
};

/** A job in plain words; one without words of its own by its name: `the job “erase events”`. */
export const jobInWords = (job: string): string =>
  JOBS[job] ?? `the job “${job.replaceAll('-', ' ')}”`;
