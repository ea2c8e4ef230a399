/** Logins and other access actions of users; their `entity_type` is `user`, and `after` has the details. */
const ACCESS_ACTIONS = [
  'logged_in',
  'login_failed',
  'locked_out',
  'logged_out',
  'session_ended',
  'refresh_reused',
  'password_changed',
  'password_reset_requested',
  'password_reset',
] as const;
export type AccessAction = (typeof ACCESS_ACTIONS)[number];
export const AUDIT_ACTIONS = ['created', 'updated', 'deleted', ...ACCESS_ACTIONS] as const;
export const ACTOR_KINDS = ['user', 'service_account', 'customer', 'public', 'system'] as const;

/**
 * Types of the records whose changes are logged: one for each audited table (`test/contract/audit-log.test.ts`). Rows
 * of a table that no longer exists keep their type, so it is no closed set.
 */
export const AUDITED_TYPES = [
  'addon', 'addon_association', 'alert_setting', 'api_key', 'checkout_session', 'connection',
  'correction', 'costsheet', 'coupon', 'coupon_association', 'credit_grant',
  'credit_grant_application', 'credit_note', 'credit_note_line', 'customer', 'entitlement',
  'environment', 'erasure', 'feature', 'gateway_event', 'group', 'integration_mapping', 'invoice',
  'meter', 'payment', 'payment_attempt', 'payment_method', 'plan', 'price', 'price_unit',
  'refund', 'saved_view', 'scheduled_task', 'setting', 'subscription', 'subscription_change',
  'subscription_line_item', 'subscription_pause', 'subscription_phase', 'subscription_schedule',
  'task', 'tax_association', 'tax_rate', 'tenant', 'test_clock', 'test_gateway_payment',
  'test_gateway_refund', 'user', 'wallet', 'wallet_transaction', 'webhook_endpoint',
] as const; // prettier-ignore
