/**
 * Fields that decide where money, credits or access go, for how much and from when, each with the words that
 * other routes, records or the field itself use for the same. All of these fields are optional somewhere, and
 * without them the request does something else: it pays into the wallet, refunds everything, ends today or never,
 * bills the wrong customer, or admits everyone.
 */
const WORDS_OF_OTHER_ROUTES: Readonly<Record<string, readonly string[]>> = {
  target: ['refund_target'],
  refund_target: ['target'],

  amount: ['amount_paid', 'refunded_amount', 'credit_amount', 'credits', 'credits_to_add'],
  credits: ['credits_to_add', 'credit_amount', 'amount'],
  credits_to_add: ['credits', 'credit_amount'],
  initial_credits_to_load: ['credits', 'credits_to_add', 'credit_amount'],

  expiry_date_utc: ['expiry_date', 'expires_at', 'end_date', 'initial_credits_expiry_date_utc'],
  initial_credits_expiry_date_utc: ['expiry_date_utc', 'expiry_date', 'expires_at', 'end_date'],
  expires_at: ['expiry_date', 'expiry_date_utc', 'end_date'],
  redeem_after: ['start_date'],
  redeem_before: ['expires_at', 'expiry_date', 'expiry_date_utc', 'end_date'],

  cancel_at: ['effective_date', 'effective_from', 'end_date', 'change_at'],
  cancellation_type: ['cancel_at_period_end'],
  change_at: ['effective_date', 'effective_from', 'start_date', 'cancel_at'],
  effective_date: ['effective_from', 'start_date', 'end_date', 'change_at', 'cancel_at'],
  effective_from: ['effective_date', 'start_date', 'end_date', 'change_at', 'cancel_at'],
  start_date: ['effective_date', 'effective_from', 'change_at'],
  end_date: ['effective_date', 'effective_from', 'cancel_at', 'expires_at', 'expiry_date'],
  pause_start: ['start_date', 'effective_date', 'effective_from'],
  pause_end: ['resume_at', 'end_date'],
  resume_at: ['effective_date', 'effective_from', 'pause_end'],
  subscription_status: ['status'],

  external_customer_id: ['customer_external_id', 'customer_id'],
  customer_external_id: ['external_customer_id', 'customer_id'],
  customer_id: ['external_customer_id', 'customer_external_id'],
  allowed_event_names: ['event_names', 'event_types'],
  permissions: ['roles'],
  roles: ['permissions'],

  inheritance: [
    'invoicing_customer_id',
    'invoicing_customer_external_id',
    'external_customer_ids_to_inherit_subscription',
  ],

  payment_gateway: ['payment_provider'],
  payment_provider: ['payment_gateway'],
  payment_method_id: ['gateway_payment_method_id', 'gateway_method_id'],
  gateway_payment_method_id: ['payment_method_id', 'gateway_method_id'],

  overage_factor: ['commitment_overage_factor'],
  commitment_overage_factor: ['overage_factor'],
  enable_true_up: ['commitment_true_up_enabled'],
  commitment_true_up_enabled: ['enable_true_up'],

  subscription_coupons: [
    'invoice_coupons',
    'coupon_code',
    'coupon_codes',
    'coupon_id',
    'coupon_ids',
  ],
  invoice_coupons: [
    'subscription_coupons',
    'coupon_code',
    'coupon_codes',
    'coupon_id',
    'coupon_ids',
  ],
  tax_rate_overrides: ['tax_rates', 'tax_rate_code', 'tax_rate_ids'],
};

/**
 * The field that `word` probably means, or null: one of `known`, the fields of the request, that `sent` does
 * not hold (api 57). A word with null, false or the empty text asks for nothing.
 */
export function fieldMeant(
  word: string,
  known: readonly string[],
  sent: Readonly<Record<string, unknown>>,
): string | null {
  const asks = ![undefined, null, false, ''].includes(sent[word] as null);
  if (!asks) return null;
  const isMeant = (field: string) =>
    Object.hasOwn(WORDS_OF_OTHER_ROUTES, field) &&
    WORDS_OF_OTHER_ROUTES[field]!.includes(word) &&
    !Object.hasOwn(sent, field);
  return known.find(isMeant) ?? null;
}
