/** The closed sets of words that records, bodies and rules share. The order is that of the documentation. */
export const AGGREGATION_TYPES = [
  'COUNT', 'SUM', 'AVG', 'MAX', 'MIN', 'SUM_WITH_MULTIPLIER', 'COUNT_UNIQUE', 'LATEST', 'WEIGHTED_SUM',
] as const; // prettier-ignore

export const BUCKET_SIZES = [
  'MINUTE', '15MIN', '30MIN', 'HOUR', '3HOUR', '6HOUR', '12HOUR', 'DAY', 'WEEK', 'MONTH',
] as const; // prettier-ignore

export const RESET_USAGES = ['BILLING_PERIOD', 'NEVER'] as const;

export const FEATURE_TYPES = ['metered', 'boolean', 'static', 'config'] as const;

export const BILLING_MODELS = ['FLAT_FEE', 'PACKAGE', 'TIERED'] as const;
export const TIER_MODES = ['VOLUME', 'SLAB'] as const;
export const PRICE_TYPES = ['USAGE', 'FIXED'] as const;
export const INVOICE_CADENCES = ['ARREAR', 'ADVANCE'] as const;
export const PRICE_UNIT_TYPES = ['FIAT', 'CUSTOM'] as const;
export const PRICE_ENTITY_TYPES = ['PLAN', 'SUBSCRIPTION', 'ADDON', 'PRICE', 'COSTSHEET'] as const;
export const PACKAGE_ROUNDS = ['up', 'down'] as const;

export const BILLING_PERIODS = [
  'MONTHLY', 'ANNUAL', 'WEEKLY', 'DAILY', 'QUARTERLY', 'HALF_YEARLY', 'ONETIME',
] as const; // prettier-ignore

export const ALERT_CONDITIONS = ['above', 'below'] as const;
export const ENVIRONMENT_TYPES = ['production', 'development'] as const;
export const TAX_TREATMENTS = ['taxable', 'exempt'] as const;
export const GROUP_ENTITY_TYPES = ['price', 'feature'] as const;

export const ENTITLEMENT_ENTITY_TYPES = ['PLAN', 'SUBSCRIPTION', 'ADDON'] as const;
export const USAGE_RESET_PERIODS = [
  'MONTHLY', 'ANNUAL', 'WEEKLY', 'DAILY', 'QUARTERLY', 'HALF_YEARLY', 'NEVER',
] as const; // prettier-ignore
export const ENTITLEMENT_AGGREGATION_MODES = ['additive', 'parallel'] as const;
export const GRANT_MEASURES = ['quantity', 'amount'] as const;
export const GRANT_DURATION_UNITS = ['hour', 'day', 'week', 'subscription_period'] as const;
export const GRANT_ALLOCATION_BEHAVIORS = ['first_usage', 'unit_start'] as const;

export const ADDON_TYPES = ['onetime', 'multiple_instance'] as const;
export const ADDON_STATUSES = ['active', 'cancelled', 'pending', 'paused'] as const;

export const CREDIT_GRANT_SCOPES = ['PLAN', 'SUBSCRIPTION', 'ADDON'] as const;
export const CREDIT_GRANT_CADENCES = ['ONETIME', 'RECURRING'] as const;
export const CREDIT_GRANT_PERIODS = [
  'DAILY', 'WEEKLY', 'MONTHLY', 'ANNUAL', 'QUARTERLY', 'HALF_YEARLY',
] as const; // prettier-ignore
export const CREDIT_GRANT_EXPIRATION_TYPES = ['NEVER', 'DURATION', 'BILLING_CYCLE'] as const;
export const CREDIT_GRANT_EXPIRATION_UNITS = ['DAY', 'WEEK', 'MONTH', 'YEAR'] as const;

export const COUPON_TYPES = ['fixed', 'percentage'] as const;
export const COUPON_CADENCES = ['once', 'repeated', 'forever'] as const;

export const TAX_RATE_SCOPES = ['INTERNAL', 'EXTERNAL', 'ONETIME'] as const;
export const TAX_RATE_STATUSES = ['ACTIVE', 'INACTIVE'] as const;
export const TAX_ENTITY_TYPES = ['customer', 'subscription', 'invoice', 'tenant'] as const;
export const TAX_BEHAVIORS = ['inclusive', 'exclusive'] as const;

export const SUBSCRIPTION_STATUSES = [
  'active', 'paused', 'cancelled', 'incomplete', 'trialing', 'draft',
] as const; // prettier-ignore
export const COLLECTION_METHODS = ['charge_automatically', 'send_invoice'] as const;
export const PAYMENT_BEHAVIORS = [
  'default_active', 'allow_incomplete', 'error_if_incomplete', 'default_incomplete',
] as const; // prettier-ignore
export const BILLING_CYCLES = ['anniversary', 'calendar'] as const;
export const SUBSCRIPTION_PRORATION_BEHAVIORS = ['create_prorations', 'none'] as const;
export const LINE_ITEM_GROUPINGS = ['per_charge_period', 'per_billing_period'] as const;
export const SUBSCRIPTION_TYPES = [
  'standalone', 'delegated_invoicing', 'parent', 'inherited', 'grouped_invoicing',
] as const; // prettier-ignore
export const PAUSE_STATUSES = ['none', 'active', 'scheduled', 'completed', 'cancelled'] as const;
export const CANCELLATION_TYPES = ['immediate', 'end_of_period', 'scheduled_date'] as const;
export const PAUSE_MODES = ['immediate', 'scheduled', 'period_end'] as const;
export const RESUME_MODES = ['immediate', 'scheduled', 'auto'] as const;
/** Status of a pause record; a subscription without a current pause shows `none`. */
export const PAUSE_RECORD_STATUSES = ['scheduled', 'active', 'completed', 'cancelled'] as const;

export const INVOICE_TYPES = ['SUBSCRIPTION', 'ONE_OFF', 'CREDIT'] as const;
export const INVOICE_STATUSES = ['DRAFT', 'FINALIZED', 'VOIDED', 'SKIPPED'] as const;
export const BILLING_REASONS = [
  'SUBSCRIPTION_CREATE', 'SUBSCRIPTION_CYCLE', 'SUBSCRIPTION_UPDATE', 'SUBSCRIPTION_TRIAL_START',
  'SUBSCRIPTION_TRIAL_END', 'PRORATION', 'MANUAL', 'WALLET_AUTO_TOPUP',
] as const; // prettier-ignore

/** Status of a payment, and of an invoice; each has its own transition table. */
export const PAYMENT_STATUSES = [
  'INITIATED', 'PENDING', 'PROCESSING', 'SUCCEEDED', 'OVERPAID', 'FAILED',
  'REFUNDED', 'PARTIALLY_REFUNDED', 'VOIDED',
] as const; // prettier-ignore
export const PAYMENT_METHOD_TYPES = [
  'CARD', 'ACH', 'OFFLINE', 'CREDITS', 'PAYMENT_LINK', 'UPI',
] as const; // prettier-ignore
/** Types of methods that a gateway saves. */
export const SAVED_METHOD_TYPES = ['CARD', 'ACH', 'UPI'] as const;
export const PAYMENT_DESTINATION_TYPES = ['INVOICE', 'CUSTOMER'] as const;
/** Gateways that a payment may name. */
export const PAYMENT_GATEWAYS = [
  'stripe', 'razorpay', 'nomod', 'moyasar', 'paddle', 'whop', 'test',
] as const; // prettier-ignore
export const REFUND_REASONS = [
  'DUPLICATE', 'FRAUDULENT', 'REQUESTED_BY_CUSTOMER', 'ORDER_CHANGE', 'SERVICE_ISSUE', 'OTHER',
] as const; // prettier-ignore
export const REFUND_STATUSES = [
  'PENDING', 'PROCESSING', 'SUCCEEDED', 'FAILED', 'CANCELLED',
] as const; // prettier-ignore
export const REFUND_TARGETS = ['PREPAID_WALLET', 'BACK_TO_SOURCE'] as const;

export const CREDIT_NOTE_STATUSES = ['DRAFT', 'FINALIZED', 'VOIDED'] as const;
export const CREDIT_NOTE_TYPES = ['ADJUSTMENT', 'REFUND'] as const;
export const CREDIT_NOTE_REASONS = [
  'DUPLICATE', 'FRAUDULENT', 'ORDER_CHANGE', 'UNSATISFACTORY', 'SERVICE_ISSUE', 'BILLING_ERROR',
  'SUBSCRIPTION_CANCELLATION',
] as const; // prettier-ignore

export const WALLET_TYPES = ['PRE_PAID', 'POST_PAID'] as const;
export const WALLET_STATUSES = ['active', 'frozen', 'closed'] as const;
export const TRANSACTION_STATUSES = ['pending', 'completed', 'failed'] as const;
export const CREDIT_REASONS = [
  'FREE_CREDIT_GRANT', 'SUBSCRIPTION_CREDIT_GRANT', 'PURCHASED_CREDIT_BONUS',
  'PURCHASED_CREDIT_INVOICED', 'PURCHASED_CREDIT_DIRECT', 'CREDIT_NOTE', 'INVOICE_VOID_REFUND',
] as const; // prettier-ignore
export const DEBIT_REASONS = [
  'INVOICE_PAYMENT', 'CREDIT_ADJUSTMENT', 'CREDIT_EXPIRED', 'WALLET_TERMINATION',
  'MANUAL_BALANCE_DEBIT',
] as const; // prettier-ignore
export const WALLET_THRESHOLD_TYPES = ['absolute', 'percentage'] as const;
/** What a wallet may pay for. */
export const WALLET_PRICE_TYPES = ['ALL', 'USAGE', 'FIXED'] as const;
/** What the reference of a wallet transaction names. */
export const TRANSACTION_REFERENCE_TYPES = ['PAYMENT', 'EXTERNAL', 'REQUEST', 'INVOICE'] as const;
/** The cause of a wallet transaction (money 2.3.5). */
export const TRANSACTION_SOURCE_TYPES = [
  'INVOICE', 'PAYMENT', 'CREDIT_NOTE', 'CREDIT_GRANT_APPLICATION', 'CHECKOUT_SESSION',
  'WALLET_TRANSACTION', 'SUBSCRIPTION',
] as const; // prettier-ignore
export const GRANT_APPLICATION_STATUSES = [
  'pending', 'applied', 'failed', 'skipped', 'cancelled',
] as const; // prettier-ignore
export const GRANT_APPLICATION_REASONS = [
  'first_time_recurring_credit_grant', 'recurring_credit_grant', 'onetime_credit_grant',
] as const; // prettier-ignore
export const ALERT_STATES = ['ok', 'info', 'warning', 'in_alarm'] as const;
export const ALERT_ENTITY_TYPES = [
  'wallet', 'feature', 'subscription', 'subscription_line_item', 'group', 'entitlement_grant',
] as const; // prettier-ignore
/** Entities that can have a spend threshold. */
export const SPEND_ALERT_ENTITY_TYPES = [
  'subscription',
  'subscription_line_item',
  'group',
] as const;
export const ALERT_TYPES = [
  'low_ongoing_balance', 'low_credit_balance', 'feature_wallet_balance', 'subscription_spend',
  'subscription_line_item_spend', 'subscription_group_spend', 'entitlement_grant_threshold',
  'entitlement_grant_exhausted',
] as const; // prettier-ignore

/** Services that a connection can connect to. */
export const CONNECTION_PROVIDERS = [
  'flexprice', 'stripe', 's3', 'hubspot', 'razorpay', 'chargebee', 'quickbooks', 'zoho_books', 'nomod',
  'moyasar', 'paddle', 'whop', 'tabs', 'aws_marketplace', 'gcp_marketplace', 'azure_marketplace', 'test',
] as const; // prettier-ignore
/** Providers with records that can be linked to ours. */
export const LINKED_PROVIDERS = [
  'stripe', 'razorpay', 'paypal', 'quickbooks', 'zoho_books', 'paddle', 'hubspot', 'aws_marketplace',
  'gcp_marketplace', 'azure_marketplace',
] as const; // prettier-ignore
export const LINKED_ENTITY_TYPES = [
  'customer', 'plan', 'invoice', 'subscription', 'payment', 'credit_note', 'addon', 'item', 'item_price',
  'price', 'invoice_line_item', 'subscription_line_item',
] as const; // prettier-ignore
export const SYNCED_ENTITIES = [
  'plan', 'subscription', 'invoice', 'customer', 'payment', 'price', 'deal', 'quote',
] as const; // prettier-ignore
export const EXPORT_ENTITY_TYPES = [
  'events', 'invoice', 'credit_topups', 'credit_usage', 'usage_analytics',
] as const; // prettier-ignore
export const EXPORT_INTERVALS = ['15MIN', '30MIN', 'custom', 'hourly', 'daily'] as const;

export const CHECKOUT_ACTIONS = [
  'create_subscription', 'modify_subscription', 'wallet_topup', 'add_addon', 'pay_invoice',
] as const; // prettier-ignore
export const CHECKOUT_PROVIDERS = ['razorpay', 'stripe', 'test'] as const;
export const CHECKOUT_STATUSES = [
  'initiated', 'pending', 'completed', 'failed', 'expired',
] as const; // prettier-ignore

export const TASK_TYPES = ['IMPORT', 'EXPORT'] as const;
export const TASK_ENTITY_TYPES = ['EVENTS', 'PRICES', 'CUSTOMERS', 'FEATURES'] as const;
export const TASK_FILE_TYPES = ['CSV', 'JSON'] as const;
export const TASK_STATUSES = ['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED'] as const;
export const EXPORT_FORMATS = ['csv', 'jsonl'] as const;

/** Days that a customer may choose for the chart of usage. */
export const PORTAL_RANGES = [
  'today', 'yesterday', 'last_7_days', 'last_30_days', 'last_90_days', 'current_month', 'last_month',
] as const; // prettier-ignore
export type PortalRange = (typeof PORTAL_RANGES)[number];
