import { formatWord } from '../../ui/text.ts';

/** What the jobs do that change records on a timeline. */
const JOBS: Readonly<Record<string, string>> = {
  'apply-credit-grants': 'the granting of credits',
  'cancel-unpaid-subscriptions': 'the cancellation of unpaid subscriptions',
  'close-billing-periods': 'the end of the billing period',
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

/** Records that belong to another one: they are added to it and removed from it. */
const PARTS: Readonly<Record<string, string>> = {
  coupon_association: 'Coupon',
  addon_association: 'Addon',
  tax_association: 'Tax',
  credit_grant_application: 'Credits of a grant',
  subscription_change: 'Change of the subscription',
  subscription_line_item: 'Line item',
  subscription_phase: 'Phase',
  invoice_line_item: 'Line item',
};
const PART_ACTIONS: Readonly<Record<string, string>> = {
  created: 'added',
  deleted: 'removed',
  archived: 'removed',
};

export const recordInWords = (entityType: string): string =>
  PARTS[entityType] ?? formatWord(entityType);

export const actionInWords = (entityType: string, action: string): string =>
  entityType in PARTS ? (PART_ACTIONS[action] ?? action) : action;

const FIELDS: Readonly<Record<string, string>> = {
  amount_remaining: 'amount due',
  amount_due: 'amount to pay',
  finalized_at: 'time of finalizing',
  gateway_method_id: 'method id of the gateway',
  gateway_payment_id: 'payment id of the gateway',
  last_answered_at: 'last answer of the gateway',
  paid_at: 'time of payment',
  succeeded_at: 'time of receipt',
};

export const fieldInWords = (field: string): string => FIELDS[field] ?? field.replaceAll('_', ' ');
