/** The closed sets of words that records, bodies and rules share. Their order is the order of the documentation. */
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
