import { recordInWords } from '../record-words.ts';

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

export const partInWords = (entityType: string): string =>
  PARTS[entityType] ?? recordInWords(entityType);

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
