import { capitalized } from '../../ui/text.ts';
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

/** Notifications whose types do not read as plain words. */
const NOTIFICATIONS: Readonly<Record<string, string>> = {
  'entitlement.grant.exhausted': 'Quota used up',
  'event.rejected': 'Event rejected',
  'feature.wallet_balance.alert': 'Alert of a feature',
  'invoice.communication.triggered': 'Invoice sent',
  'invoice.payment.overdue': 'Invoice overdue',
  'invoice.sync.failed': 'Copy of the invoice to the gateway failed',
  'invoice.sync.success': 'Invoice copied to the gateway',
  'invoice.update': 'Invoice updated',
  'invoice.update.finalized': 'Invoice finalized',
  'invoice.update.payment': 'Payment of the invoice changed',
  'invoice.update.voided': 'Invoice voided',
  'meter.set_aside': 'Usage of a meter set aside',
  'payment.success': 'Payment succeeded',
  'subscription.renewal.due': 'Subscription renews soon',
};

/** The type of a notification: `subscription.activated` as `Subscription activated`. */
export const notificationInWords = (type: string): string =>
  NOTIFICATIONS[type] ?? capitalized(type.replaceAll(/[._]/g, ' '));
