/**
 * Example bodies of the document, by operation, in dependency order: earlier requests create the records that
 * `EXAMPLE_IDS` stand for.
 */
export const EXAMPLE_IDS = {
  meter: 'meter_01JD2ZK7Q4W8R0T5Y6X1C3V9BN',
  feature: 'feat_01JD2ZM3H8K5N7P9Q2S4T6V8WX',
  plan: 'plan_01JD2ZN5A1B3C6D8E0F2G4H7JK',
  customer: 'cust_01JD2ZPV6M9N0P1Q3R5S7T8WXY',
} as const;

export const EXAMPLES: Readonly<Record<string, object>> = {
  'POST /meters': {
    name: 'Tokens',
    event_name: 'llm.completion',
    aggregation: { type: 'SUM', field: 'tokens' },
    filters: [{ key: 'model', values: ['large', 'small'] }],
    reset_usage: 'BILLING_PERIOD',
  },
  'POST /features': {
    name: 'Tokens',
    lookup_key: 'tokens',
    type: 'metered',
    meter_id: EXAMPLE_IDS.meter,
    unit_singular: 'token',
    unit_plural: 'tokens',
  },
  'POST /plans': {
    name: 'Team',
    lookup_key: 'team',
    description: 'Pay for what you use',
    metadata: { tier: 'paid' },
  },
  'POST /prices': {
    entity_type: 'PLAN',
    entity_id: EXAMPLE_IDS.plan,
    type: 'USAGE',
    meter_id: EXAMPLE_IDS.meter,
    price_unit_type: 'FIAT',
    currency: 'usd',
    billing_model: 'TIERED',
    tier_mode: 'SLAB',
    tiers: [
      { up_to: 1_000_000, unit_amount: '0.000004' },
      { up_to: null, unit_amount: '0.000003' },
    ],
    billing_period: 'MONTHLY',
    billing_period_count: 1,
    invoice_cadence: 'ARREAR',
  },
  'POST /entitlements': {
    entity_type: 'PLAN',
    entity_id: EXAMPLE_IDS.plan,
    feature_id: EXAMPLE_IDS.feature,
    feature_type: 'metered',
    usage_limit: 50_000,
    usage_reset_period: 'MONTHLY',
  },
  'POST /customers': {
    external_id: 'acme',
    name: 'Acme Corporation',
    email: 'billing@acme.example',
    address_country: 'BE',
    timezone: 'Europe/Brussels',
    metadata: { region: 'eu' },
  },
  'POST /coupons': {
    name: 'Launch',
    type: 'percentage',
    percentage_off: '20',
    cadence: 'repeated',
    duration_in_periods: 3,
    coupon_code: 'LAUNCH20',
  },
  'POST /taxes/rates': {
    name: 'VAT Belgium',
    code: 'BE-VAT-21',
    tax_rate_type: 'percentage',
    percentage_value: '21',
  },
  'POST /subscriptions': {
    customer_id: EXAMPLE_IDS.customer,
    plan_id: EXAMPLE_IDS.plan,
    currency: 'usd',
    billing_period: 'MONTHLY',
    billing_period_count: 1,
  },
  'POST /secrets/api/keys': {
    name: 'Backend',
    type: 'private_key',
    permissions: ['event:write', 'customer:read'],
  },
  'POST /events': {
    event_id: 'req_8f14e45f',
    event_name: 'llm.completion',
    external_customer_id: 'acme',
    properties: { tokens: 1250, model: 'large' },
  },
  'POST /events/bulk': {
    events: [
      {
        event_id: 'req_c9f0f895',
        event_name: 'llm.completion',
        external_customer_id: 'acme',
        properties: { tokens: 310, model: 'small' },
      },
      {
        event_id: 'req_45c48cce',
        event_name: 'llm.completion',
        external_customer_id: 'acme',
        properties: { tokens: 92, model: 'large' },
      },
    ],
  },
};
