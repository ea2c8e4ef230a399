import type { TestCaller } from './api.ts';

/** What a test sells. Every call answers the created record; a refusal fails the test. */
export interface TestCatalog {
  plan(name?: string): Promise<{ id: string }>;
  meter(aggregation?: object, more?: object): Promise<{ id: string }>;
  /** A FIXED price, monthly in advance unless said otherwise. */
  fixed(plan: { id: string }, amount: string, more?: object): Promise<{ id: string }>;
  /** A USAGE price, monthly. */
  usage(plan: { id: string }, meter: { id: string }, more?: object): Promise<{ id: string }>;
  customer(more?: object): Promise<{ id: string; external_id: string }>;
  subscribe(customer: { id: string }, plan: { id: string }, more?: object): Promise<any>;
}

let counter = 0;

/** Shorthands over the API itself. Periods are monthly and the currency is usd unless said otherwise. */
export function catalogOf(api: TestCaller): TestCatalog {
  const monthly = { billing_period: 'MONTHLY', billing_period_count: 1, currency: 'usd' };
  const price = (plan: { id: string }, more: object) =>
    api.postOk('/v1/prices', {
      ...monthly,
      entity_type: 'PLAN',
      entity_id: plan.id,
      price_unit_type: 'FIAT',
      billing_model: 'FLAT_FEE',
      ...more,
    });
  return {
    plan: (name = 'Plan') => api.postOk('/v1/plans', { name }),
    meter: (aggregation = { type: 'SUM', field: 'v' }, more = {}) =>
      api.postOk('/v1/meters', {
        name: 'Calls',
        event_name: `calls_${(counter += 1)}`,
        aggregation,
        reset_usage: 'BILLING_PERIOD',
        ...more,
      }),
    fixed: (plan, amount, more = {}) =>
      price(plan, { type: 'FIXED', invoice_cadence: 'ADVANCE', amount, ...more }),
    usage: (plan, meter, more = {}) =>
      price(plan, {
        type: 'USAGE',
        invoice_cadence: 'ARREAR',
        meter_id: meter.id,
        ...('tiers' in more ? {} : { amount: '0.02' }),
        ...more,
      }),
    customer: (more = {}) =>
      api.postOk('/v1/customers', {
        external_id: `c_${(counter += 1)}`,
        name: 'Customer',
        ...more,
      }),
    subscribe: (customer, plan, more = {}) =>
      api.postOk('/v1/subscriptions', {
        ...monthly,
        customer_id: customer.id,
        plan_id: plan.id,
        ...more,
      }),
  };
}
