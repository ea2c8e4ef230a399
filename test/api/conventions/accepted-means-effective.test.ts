import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';
import { readPdf } from '../../support/read-pdf.ts';
import { fixedPriceBody } from '../../support/price-body.ts';
import { beside, walkFields, type Subject } from './field-walk.ts';

/**
 * Accepted means effective: each optional field of these requests, sent with a second value, changes an answer
 * or an invoice, or is refused by name. A field that is only answered back is a description, or a named test
 * shows who reads it. A new field of a schema fails here until it has a value. Subscriptions have a file of their
 * own beside this one.
 */

let world: BillingWorld;
let counter = 0;
const unique = (name: string) => `${name}~${(counter += 1)}`;
const START = '2026-11-01T00:00:00Z';
const USED_AT = '2026-11-20T00:00:00.000Z';
/** An id that no record has: what names it is refused. */
const NOBODY = 'nobody_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const LATER = '2027-01-15T00:00:00.000Z';

const call = (path: string, body: object) => world.api.post(`/v1${path}`, body);
const get = async (path: string) => (await world.api.get(`/v1${path}`)).body;
const newCustomer = (more: object = {}) => world.catalog.customer(more);
const monthly = { currency: 'usd', billing_period: 'MONTHLY', billing_period_count: 1 };

/** A subscription of the plan from 1 November, and the preview of its period. */
async function billed(plan: { id: string }, more: object = {}, customer?: any) {
  const subscription = await world.catalog.subscribe(customer ?? (await newCustomer()), plan, {
    start_date: START,
    billing_cycle: 'anniversary',
    ...more,
  });
  // A price with new filters makes a new version of its meter.
  await completeBackfills(world.api.pool);
  return [
    subscription,
    await world.api.postOk('/v1/invoices/preview', { subscription_id: subscription.id }),
  ];
}

/** Usage of ten units in November, of a customer of its own. */
async function used(more: object = {}) {
  const customer = await newCustomer();
  const meter = await world.catalog.meter({ type: 'SUM', field: 'v' }, more);
  await completeBackfills(world.api.pool);
  await world.usage.use(meter, customer, USED_AT, '10', { region: 'eu' });
  return { customer, meter };
}

/** The text of an invoice's PDF. */
async function printed(id: string): Promise<string> {
  const { rawPayload } = await world.api.app.inject({
    method: 'GET',
    url: `/v1/invoices/${id}/pdf`,
    headers: { 'x-api-key': world.api.key },
  });
  return (await readPdf(rawPayload)).text;
}

type Subjects = Record<string, () => Promise<Subject>>;
const SUBJECTS: Subjects = {
  'POST /plans': async () => ({
    base: async () => ({ name: 'Plan' }),
    values: {
      description: 'x',
      display_order: 7,
      lookup_key: unique('plan'),
      metadata: { a: 'b' },
    },
  }),

  'POST /addons': async () => ({
    base: async () => ({ name: 'Addon', lookup_key: unique('addon') }),
    values: { description: 'x', type: 'multiple_instance', metadata: { a: 'b' } },
  }),

  'POST /prices': async () => {
    const { customer, meter } = await used();
    const group = await world.api.postOk('/v1/groups', {
      name: 'G',
      entity_type: 'price',
      lookup_key: 'g',
    });
    const unit = await world.api.postOk('/v1/prices/units', {
      name: 'Credits',
      code: 'crd',
      symbol: 'c',
      base_currency: 'usd',
      conversion_rate: '0.01',
    });
    const metered = {
      type: 'USAGE',
      invoice_cadence: 'ARREAR',
      meter_id: meter.id,
      amount: '2',
    };
    const tiered = {
      ...metered,
      amount: undefined,
      billing_model: 'TIERED',
      tier_mode: 'SLAB',
      tiers: [
        { up_to: 4, unit_amount: '5' },
        { up_to: null, unit_amount: '1' },
      ],
    };
    const inUnits = {
      ...{ amount: undefined, price_unit_type: 'CUSTOM' },
      price_unit_config: { price_unit: unit.code, amount: '100' },
    };
    return {
      base: async () => ({
        ...fixedPriceBody((await world.catalog.plan()).id),
        amount: '30',
        display_name: 'Fee',
      }),
      see: async (price) => [
        ...(await billed(
          { id: price.entity_id },
          { billing_period_count: price.billing_period_count },
          customer,
        )),
        (await get(`/groups/${group.id}`)).entity_ids.includes(price.id),
      ],
      values: {
        billing_period_count: 2,
        price_unit_config: beside(inUnits, { price_unit: unit.code, amount: '200' }),
        amount: '31',
        tier_mode: beside(tiered, 'VOLUME'),
        tiers: beside(tiered, [{ up_to: null, unit_amount: '9' }]),
        transform_quantity: beside(
          { ...metered, billing_model: 'PACKAGE', transform_quantity: { divide_by: 5 } },
          { divide_by: 3 },
        ),
        meter_id: beside({ ...metered, meter_id: (await world.catalog.meter()).id }, meter.id),
        filter_values: beside(metered, { region: ['us'] }),
        bucket_size: beside({ ...metered, meter_id: (await used()).meter.id }, 'DAY'),
        min_quantity: 3,
        trial_period: 10,
        trial_period_days: 10,
        start_date: '2026-11-10T00:00:00Z',
        end_date: '2026-12-10T00:00:00Z',
        display_name: 'Other',
        description: 'x',
        lookup_key: unique('price'),
        metadata: { a: 'b' },
        group_id: group.id,
        billing_cadence: 'ONETIME',
      },
    };
  },

  'POST /coupons': async () => {
    const plan = await world.catalog.plan();
    await world.catalog.fixed(plan, '30');
    return {
      base: async () => ({
        name: 'Off',
        type: 'percentage',
        percentage_off: '10',
        cadence: 'forever',
      }),
      see: async (coupon) => {
        const answers = [];
        for (const start_date of [START, '2027-03-01T00:00:00Z']) {
          const answer = await call('/subscriptions', {
            ...monthly,
            plan_id: plan.id,
            customer_id: (await newCustomer()).id,
            start_date,
            coupons: [coupon.id],
          });
          answers.push(answer.status, answer.body);
        }
        if (coupon.coupon_code !== null)
          answers.push(await get(`/coupons/code/${coupon.coupon_code}`));
        return answers;
      },
      values: {
        amount_off: beside(
          { type: 'fixed', percentage_off: undefined, currency: 'usd', amount_off: '1' },
          '2',
        ),
        percentage_off: '20',
        currency: beside(
          { type: 'fixed', percentage_off: undefined, currency: 'usd', amount_off: '1' },
          'eur',
        ),
        duration_in_periods: beside({ cadence: 'repeated', duration_in_periods: 2 }, 3),
        max_redemptions: 1,
        redeem_after: '2026-12-01T00:00:00Z',
        redeem_before: '2026-11-20T00:00:00Z',
        coupon_code: unique('code'),
        rules: { a: 1 },
        metadata: { a: 'b' },
      },
    };
  },

  'POST /entitlements': async () => {
    const { customer, meter } = await used();
    const feature = await world.api.postOk('/v1/features', {
      name: 'Calls',
      type: 'metered',
      meter_id: meter.id,
    });
    const addon = await world.api.postOk('/v1/addons', { name: 'A', lookup_key: unique('a') });
    const of = { plan_id: undefined, entity_type: 'ADDON', entity_id: addon.id };
    const level = await world.api.postOk('/v1/features', { name: 'Level', type: 'static' });
    const ofSwitch = {
      feature_id: (await world.api.postOk('/v1/features', { name: 'Sso', type: 'boolean' })).id,
      ...{ feature_type: 'boolean', usage_limit: undefined, usage_reset_period: undefined },
    };
    const ofQuota = {
      ...{ usage_limit: undefined, usage_reset_period: undefined, grant_quota: '4' },
      ...{ grant_measure: 'quantity', grant_duration_unit: 'hour', grant_duration_value: 1 },
    };
    const ofPlan = {
      ...{ feature_id: level.id, feature_type: 'static', static_value: 'silver' },
      ...{ usage_limit: undefined, usage_reset_period: undefined },
    };
    return {
      base: async () => ({
        plan_id: (await world.catalog.plan()).id,
        feature_id: feature.id,
        feature_type: 'metered',
        usage_limit: 4,
        usage_reset_period: 'MONTHLY',
      }),
      see: async (entitlement) => {
        if (entitlement.entity_type !== 'PLAN') return [];
        const plan = { id: entitlement.entity_id };
        await world.catalog.usage(plan, meter, { amount: '2' });
        const [subscription, invoice] = await billed(plan, {}, customer);
        const granted = await get(`/subscriptions/${subscription.id}/entitlements`);
        return [invoice, granted];
      },
      values: {
        is_enabled: beside(ofSwitch, true),
        usage_limit: 5,
        usage_reset_period: 'DAILY',
        static_value: beside(ofPlan, 'gold'),
        config_value: { a: 1 },
        aggregation_mode: beside(ofQuota, 'parallel'),
        grant_quota: beside(ofQuota, '1'),
        grant_measure: beside(ofQuota, 'amount'),
        grant_duration_unit: beside(ofQuota, 'day'),
        grant_duration_value: beside(ofQuota, 2),
        grant_allocation_behavior: beside(ofQuota, 'unit_start'),
        plan_id: NOBODY,
        entity_type: beside(of, 'PLAN'),
        entity_id: beside(
          of,
          (await world.api.postOk('/v1/addons', { name: 'B', lookup_key: unique('b') })).id,
        ),
        parent_entitlement_id: NOBODY,
        display_order: 7,
        start_date: '2026-12-10T00:00:00Z',
        end_date: '2026-11-12T00:00:00Z',
      },
    };
  },

  'POST /creditgrants': async () => {
    const plan = await world.catalog.plan();
    await world.catalog.fixed(plan, '30');
    const addon = await world.api.postOk('/v1/addons', { name: 'A', lookup_key: unique('a') });
    const expiring = {
      expiration_type: 'DURATION',
      expiration_duration: 1,
      expiration_duration_unit: 'MONTH',
    };
    const recurring = { cadence: 'RECURRING', period: 'MONTHLY', period_count: 1 };
    const [subscription] = await billed(plan);
    const ofSubscription = {
      scope: 'SUBSCRIPTION',
      plan_id: undefined,
      subscription_id: subscription.id,
      start_date: '2026-12-01T00:00:00Z',
    };
    return {
      base: async () => {
        const granting = await world.catalog.plan();
        await world.catalog.fixed(granting, '30');
        return {
          name: 'Welcome',
          credits: '5',
          cadence: 'ONETIME',
          expiration_type: 'NEVER',
          scope: 'PLAN',
          plan_id: granting.id,
        };
      },
      see: async (grant) => {
        if (grant.scope === 'SUBSCRIPTION')
          return [await get(`/subscriptions/${grant.subscription_id}/grants/upcoming`)];
        if (grant.scope !== 'PLAN') return [];
        const [made] = await billed({ id: grant.plan_id });
        const wallets = await get(`/customers/${made.customer_id}/wallets`);
        const rows = await world.api.postOk('/v1/wallets/transactions/search', {
          customer_id: made.customer_id,
        });
        return [wallets, rows, await get(`/customers/${made.customer_id}/grants/upcoming`)];
      },
      values: {
        conversion_rate: '2',
        topup_conversion_rate: '3',
        period: beside(recurring, 'WEEKLY'),
        period_count: beside(recurring, 2),
        expiration_duration: beside(expiring, 2),
        expiration_duration_unit: beside(expiring, 'YEAR'),
        priority: 3,
        credit_grant_anchor: beside(recurring, '2026-11-15T00:00:00Z'),
        start_date: beside({ ...ofSubscription, start_date: LATER }, '2026-12-05T00:00:00Z'),
        end_date: beside(ofSubscription, LATER),
        metadata: { a: 'b' },
        plan_id: NOBODY,
        addon_id: beside({ scope: 'ADDON', plan_id: undefined, addon_id: addon.id }, NOBODY),
        subscription_id: beside(ofSubscription, NOBODY),
      },
    };
  },

  'POST /customers': async () => {
    const plan = await world.catalog.plan();
    await world.catalog.fixed(plan, '30');
    const rate = await world.api.postOk('/v1/taxes/rates', {
      name: 'VAT',
      code: unique('vat'),
      percentage_value: '20',
      tax_rate_type: 'percentage',
    });
    const clock = await world.api.postOk('/v1/test-clocks', {
      name: 'C',
      now: '2026-11-21T12:00:00Z',
    });
    return {
      base: async () => ({ external_id: unique('customer'), name: 'Acme' }),
      see: async (customer) => {
        const answer = await call('/subscriptions', {
          ...monthly,
          customer_id: customer.id,
          plan_id: plan.id,
          billing_cycle: 'calendar',
        });
        return [answer.body];
      },
      values: {
        email: 'a@example.com',
        contact: 'x',
        contact_persons: [{ name: 'Ada', email: 'ada@example.com' }],
        address_line1: 'x',
        address_line2: 'x',
        address_city: 'x',
        address_state: 'x',
        address_postal_code: 'x',
        address_country: 'DE',
        timezone: 'Europe/Berlin',
        customer_timezone: 'Europe/Berlin',
        billing_currency: 'eur',
        tax_treatment: 'exempt',
        metadata: { a: 'b' },
        integration_entity_mapping: [{ id: 'x', provider: 'stripe' }],
        tax_rate_overrides: [{ tax_rate_code: rate.code, currency: 'usd', auto_apply: true }],
        test_clock_id: clock.id,
        skip_onboarding_workflow: true,
        onboarding_workflow_name: NOBODY,
      },
    };
  },

  'POST /wallets': async () => {
    const customer = await newCustomer();
    return {
      base: async () => ({ customer_id: (await newCustomer()).id, currency: 'usd' }),
      see: async (wallet) => [
        await world.api.postOk('/v1/wallets/transactions/search', { wallet_id: wallet.id }),
        await get(`/wallets/${wallet.id}/balance/real-time`),
      ],
      values: {
        customer_id: NOBODY,
        external_customer_id: beside(
          { customer_id: undefined, external_customer_id: customer.external_id },
          NOBODY,
        ),
        currency: 'eur',
        wallet_type: 'POST_PAID',
        name: 'x',
        description: 'x',
        conversion_rate: beside({ initial_credits_to_load: '5' }, '2'),
        topup_conversion_rate: beside({ initial_credits_to_load: '5' }, '2'),
        price_unit: 'crd',
        initial_credits_to_load: '5',
        initial_credits_to_load_expiry_date: beside({ initial_credits_to_load: '5' }, 20271231),
        initial_credits_expiry_date_utc: beside({ initial_credits_to_load: '5' }, LATER),
        alert_settings: {
          alert_enabled: true,
          critical: { threshold: '10', condition: 'below' },
        },
        auto_topup: { enabled: true, threshold: '5', amount: '20', invoicing: false },
        metadata: { a: 'b' },
      },
    };
  },

  'POST /wallets/{id}/top-up': async () => ({
    path: async () => {
      const wallet = await world.api.postOk('/v1/wallets', {
        customer_id: (await newCustomer()).id,
        currency: 'usd',
        topup_conversion_rate: '2',
      });
      return `/wallets/${wallet.id}/top-up`;
    },
    base: async () => ({
      transaction_reason: 'FREE_CREDIT_GRANT',
      credits_to_add: '10',
      idempotency_key: unique('top-up'),
    }),
    see: async ({ wallet }) => [
      await world.api.postOk('/v1/wallets/transactions/search', { wallet_id: wallet.id }),
    ],
    values: {
      credits_to_add: '11',
      amount: beside({ credits_to_add: undefined, amount: '10' }, '20'),
      bonus_credits_to_add: beside({ transaction_reason: 'PURCHASED_CREDIT_INVOICED' }, '2'),
      bonus_credits_expiry_date_utc: beside(
        { transaction_reason: 'PURCHASED_CREDIT_INVOICED', bonus_credits_to_add: '2' },
        LATER,
      ),
      expiry_date_utc: LATER,
      priority: 3,
      idempotency_key: unique('other'),
      description: 'x',
      metadata: { a: 'b' },
      checkout: beside(
        { transaction_reason: 'PURCHASED_CREDIT_INVOICED' },
        { payment_provider: 'test', success_url: 'https://example.com' },
      ),
      force_sync_invoice: beside({ transaction_reason: 'PURCHASED_CREDIT_INVOICED' }, true),
    },
  }),

  'POST /payments': async () => {
    const invoiced = async () => {
      const plan = await world.catalog.plan();
      await world.catalog.fixed(plan, '30');
      const [subscription] = await billed(plan);
      return subscription.latest_invoice;
    };
    const saved = { payment_method_type: 'CARD', payment_gateway: 'stripe' };
    return {
      base: async () => ({
        destination_type: 'INVOICE',
        destination_id: (await invoiced()).id,
        payment_method_type: 'OFFLINE',
        amount: '10',
        currency: 'usd',
        process_payment: true,
      }),
      see: async (payment) => [await get(`/invoices/${payment.destination_id}`)],
      values: {
        payment_method_id: beside(saved, 'pm_test_success'),
        payment_gateway: beside({ payment_method_type: 'CARD', process_payment: false }, 'stripe'),
        process_payment: false,
        succeeded_at: '2026-11-02T00:00:00.000Z',
        save_card_and_make_default: true,
        success_url: 'https://example.com/yes',
        cancel_url: 'https://example.com/no',
        gateway_options: { a: 1 },
        idempotency_key: unique('payment'),
        metadata: { a: 'b' },
      },
    };
  },

  'POST /creditnotes': async () => {
    const plan = await world.catalog.plan();
    await world.catalog.fixed(plan, '30');
    return {
      base: async () => {
        const [subscription] = await billed(plan);
        const invoice = await get(`/invoices/${subscription.latest_invoice.id}`);
        return {
          invoice_id: invoice.id,
          reason: 'BILLING_ERROR',
          line_items: [{ invoice_line_item_id: invoice.line_items[0].id, amount: '5' }],
        };
      },
      see: async (note) => [await get(`/invoices/${note.invoice_id}`)],
      values: {
        credit_note_type: 'REFUND',
        refund_target: 'wallet',
        process_credit_note: true,
        credit_note_number: unique('CN'),
        memo: 'x',
        metadata: { a: 'b' },
        idempotency_key: unique('note'),
      },
    };
  },

  'POST /invoices': async () => {
    const coupon = await world.api.postOk('/v1/coupons', {
      name: 'Off',
      type: 'percentage',
      percentage_off: '10',
      cadence: 'once',
    });
    const rate = await world.api.postOk('/v1/taxes/rates', {
      name: 'VAT',
      code: unique('vat'),
      percentage_value: '20',
      tax_rate_type: 'percentage',
    });
    const row = { display_name: 'Fee', amount: '10', quantity: '1' };
    const period = { period_start: '2026-11-01T00:00:00Z', period_end: USED_AT };
    return {
      base: async () => ({
        invoice_type: 'ONE_OFF',
        customer_id: (await newCustomer()).id,
        currency: 'usd',
        amount_due: '10',
        subtotal: '10',
        total: '10',
        line_items: [row],
      }),
      see: async ({ id, customer_id }) => [
        await printed(id),
        (await world.api.postOk('/v1/invoices/search', { customer_id, billing_reason: 'MANUAL' }))
          .pagination,
      ],
      values: {
        subscription_id: NOBODY,
        period_start: beside(period, '2026-11-02T00:00:00Z'),
        period_end: beside(period, '2026-11-21T00:00:00Z'),
        billing_reason: 'MANUAL',
        issue_date: USED_AT,
        invoice_pdf_url: 'https://example.com/x.pdf',
        billing_period: 'MONTHLY',
        amount_due: '11',
        subtotal: '11',
        total: '11',
        description: 'x',
        metadata: { a: 'b' },
        idempotency_key: unique('invoice'),
        line_items: beside({ amount_due: undefined, subtotal: undefined, total: undefined }, [
          row,
          row,
        ]),
        coupons: beside({ amount_due: undefined, total: undefined }, [coupon.id]),
        invoice_coupons: beside({ amount_due: undefined, total: undefined }, [
          { coupon_id: coupon.id },
        ]),
        tax_rates: beside({ amount_due: undefined, total: undefined }, [rate.id]),
        tax_rate_overrides: beside({ amount_due: undefined, total: undefined }, [
          { tax_rate_code: rate.code, currency: 'usd' },
        ]),
        checkout: { payment_provider: 'test', success_url: 'https://example.com' },
      },
    };
  },
};

describe('accepted means effective', () => {
  beforeAll(async () => {
    world = await startBillingWorld();
  });
  afterAll(() => world.stop());

  test.each(Object.keys(SUBJECTS))('%s', async (route) => {
    expect(await walkFields(world.api, route, await SUBJECTS[route]!())).toEqual([]);
  });
});
