import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';
import { beside, staleReferences, walkFields, type Subject } from './field-walk.ts';

/**
 * Accepted means effective, for subscriptions and for the routes that change records: each optional field, sent with
 * a second value, changes an answer or an invoice, or is refused by name (see the test beside this one).
 */

let world: BillingWorld;
let counter = 0;
const unique = (name: string) => `${name}~${(counter += 1)}`;
/** A quota for windows of time in place of a limit. */
const OF_QUOTA = {
  ...{ usage_limit: null, usage_reset_period: null, grant_quota: '4', grant_measure: 'quantity' },
  ...{ grant_duration_unit: 'hour', grant_duration_value: 1 },
};

const START = '2026-11-01T00:00:00.000Z';
const MID = '2026-11-10T00:00:00.000Z';
const SOON = '2026-11-25T00:00:00.000Z';
const LATER = '2026-12-15T00:00:00.000Z';
const NOBODY = 'nobody_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const USD = { currency: 'usd', billing_period: 'MONTHLY' };
const FEE = {
  type: 'FIXED', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE', amount: '5',
}; // prettier-ignore

const get = async (path: string) => (await world.api.get(`/v1${path}`)).body;

/** What is sold: a fee, usage of which 4 are free, an addon, a coupon and a tax; one customer has used 10. */
async function offer() {
  const { catalog, api, usage } = world;
  const plan = await catalog.plan();
  const fee = await catalog.fixed(plan, '30');
  const meter = await catalog.meter();
  const metered = await catalog.usage(plan, meter, { amount: '2' });
  const extra = await catalog.usage(await catalog.plan('Extra'), await catalog.meter(), {
    amount: '3',
  });
  const addon = await world.api.postOk('/v1/addons', {
    name: 'Addon',
    lookup_key: unique('addon'),
  });
  const ofAddon = { entity_type: 'ADDON', entity_id: addon.id, ...USD };
  await world.api.postOk('/v1/prices', { ...FEE, ...ofAddon });
  const { invoice_cadence: _, ...usageFee } = FEE;
  const addonUsage = await world.api.postOk('/v1/prices', {
    ...{ ...usageFee, ...ofAddon, type: 'USAGE', invoice_cadence: 'ARREAR' },
    meter_id: (await catalog.meter()).id,
  });
  const feature = await world.api.postOk('/v1/features', {
    name: 'Calls',
    type: 'metered',
    meter_id: meter.id,
  });
  const entitlement = await world.api.postOk('/v1/entitlements', {
    ...{ plan_id: plan.id, feature_id: feature.id, feature_type: 'metered' },
    ...{ usage_limit: 4, usage_reset_period: 'MONTHLY' },
  });
  const coupon = await world.api.postOk('/v1/coupons', {
    ...{ name: 'Off', type: 'percentage', percentage_off: '10', cadence: 'forever' },
    coupon_code: unique('off'),
  });
  const tax = await world.api.postOk('/v1/taxes/rates', {
    ...{ name: 'VAT', code: unique('vat'), percentage_value: '20', tax_rate_type: 'percentage' },
  });
  await completeBackfills(api.pool);
  const [customer, other] = [await catalog.customer(), await catalog.customer()];
  await usage.use(meter, customer, '2026-11-20T00:00:00.000Z', '10');
  const subscribe = (more: object = {}) =>
    world.api.postOk('/v1/subscriptions', {
      ...{ ...USD, customer_id: customer.id, plan_id: plan.id, start_date: START },
      ...more,
    });
  return { plan, fee, metered, extra, addon, addonUsage, entitlement, coupon, tax, customer, other, subscribe }; // prettier-ignore
}
type Offer = Awaited<ReturnType<typeof offer>>;

/** What a subscription bills, grants and has been invoiced. */
async function seen(id: string): Promise<unknown[]> {
  const found = await world.api.postOk('/v1/invoices/search', { subscription_id: id });
  return [
    (await world.api.post('/v1/invoices/preview', { subscription_id: id })).body.line_items,
    await get(`/subscriptions/${id}`),
    await get(`/subscriptions/${id}/entitlements`),
    await get(`/subscriptions/${id}/grants/upcoming`),
    found.items,
  ];
}

type Subjects = Record<string, (made: Offer) => Promise<Subject>>;
const SUBJECTS: Subjects = {
  'POST /subscriptions': async (made) => {
    const { customer, other, plan, fee, metered, addon, entitlement, coupon, tax } = made;
    const calendar = { billing_cycle: 'calendar', start_date: MID };
    const trial = { trial_start: START, trial_end: '2026-12-01T00:00:00Z' };
    const committed = { commitment_amount: '5', overage_factor: '2' };
    return {
      base: async () => ({
        ...{ ...USD, customer_id: customer.id, plan_id: plan.id, start_date: START },
      }),
      see: ({ id }) => seen(id),
      values: {
        customer_id: NOBODY,
        external_customer_id: beside(
          { customer_id: undefined, external_customer_id: customer.external_id },
          NOBODY,
        ),
        billing_period_count: beside({ include_price_ids: [fee.id] }, 2),
        billing_cadence: 'ONETIME',
        billing_cycle: beside({ start_date: MID }, 'calendar'),
        billing_anchor: '2026-11-15T00:00:00Z',
        start_date: MID,
        end_date: SOON,
        trial_start: beside(trial, MID),
        trial_end: beside(trial, LATER),
        trial_period: 10,
        trial_period_days: 10,
        customer_timezone: beside(calendar, 'Asia/Kolkata'),
        timezone: beside(calendar, 'Asia/Kolkata'),
        payment_behavior: 'default_incomplete',
        payment_terms: '30 NET',
        proration_behavior: beside(calendar, 'create_prorations'),
        line_item_grouping: beside(
          { billing_period: 'QUARTERLY', include_price_ids: [fee.id] },
          'per_billing_period',
        ),
        gateway_payment_method_id: NOBODY,
        lookup_key: unique('subscription'),
        metadata: { a: 'b' },
        include_price_ids: [],
        line_items: [{ price: FEE }],
        override_line_items: [{ price_id: fee.id, quantity: '3' }],
        subscription_status: 'draft',
        commitment_amount: beside(committed, '9'),
        commitment_duration: beside({ ...committed, enable_true_up: true }, 'ANNUAL'),
        overage_factor: beside(committed, '3'),
        enable_true_up: beside({ ...committed, commitment_amount: '50' }, true),
        line_item_commitments: {
          [metered.id]: { commitment_amount: '50', overage_factor: '1', enable_true_up: true },
        },
        coupons: [coupon.id],
        line_item_coupons: { [fee.id]: [coupon.id] },
        subscription_coupons: [{ coupon_code: coupon.coupon_code }],
        addons: [{ addon_id: addon.id }],
        credit_grants: [
          {
            ...{ name: 'Welcome', credits: '5', cadence: 'RECURRING', period: 'MONTHLY' },
            ...{ period_count: 1, expiration_type: 'NEVER' },
          },
        ],
        inheritance: { invoicing_customer_external_id: other.external_id },
        parent_subscription_id: NOBODY,
        override_entitlements: [{ entitlement_id: entitlement.id, usage_limit: 6 }],
        phases: [{ start_date: START, override_line_items: [{ price_id: fee.id, amount: '7' }] }],
        tax_rate_overrides: [{ tax_rate_code: tax.code, currency: 'usd', auto_apply: true }],
        checkout: { payment_provider: 'test', success_url: 'https://example.com' },
        auto_invoice_threshold: '5',
      },
    };
  },

  'POST /subscriptions/{id}/lineitems': async ({ extra, subscribe }) => {
    const usage = { price: undefined, price_id: extra.id };
    const committed = { ...usage, commitment_amount: '50', commitment_true_up_enabled: true };
    return {
      path: async () => `/subscriptions/${(await subscribe()).id}/lineitems`,
      base: async () => ({ price: FEE }),
      see: ({ subscription_id }) => seen(subscription_id),
      values: {
        price_id: beside(usage, NOBODY),
        price: { ...FEE, amount: '6' },
        quantity: '3',
        display_name: 'x',
        subscription_phase_id: NOBODY,
        metadata: { a: 'b' },
        commitment_amount: beside(committed, '60'),
        commitment_quantity: beside(
          { ...usage, commitment_quantity: '5', commitment_true_up_enabled: true },
          '6',
        ),
        commitment_type: beside(committed, 'quantity'),
        commitment_duration: beside(committed, 'DAILY'),
        commitment_time_buckets: [{ a: 1 }],
        commitment_true_up_enabled: beside({ ...usage, commitment_amount: '50' }, true),
        commitment_windowed: beside(committed, true),
        proration_behavior: 'create_prorations',
      },
    };
  },

  'PUT /subscriptions/lineitems/{id}': async ({ subscribe }) => {
    const isOfUsage = (field: string) => field.startsWith('commitment');
    const committed = { commitment_amount: '50', commitment_true_up_enabled: true };
    const packages = {
      billing_model: 'PACKAGE',
      amount: '4',
      transform_quantity: { divide_by: 5 },
    };
    const tiers = [
      { up_to: 1, unit_amount: '5' },
      { up_to: null, unit_amount: '1' },
    ];
    return {
      kindOf: (field) => (isOfUsage(field) ? 'usage' : 'fee'),
      path: async (field) => {
        const { line_items } = await get(
          `/subscriptions/${(await subscribe({ override_line_items: [] })).id}`,
        );
        const type = isOfUsage(field) ? 'USAGE' : 'FIXED';
        return `/subscriptions/lineitems/${line_items.find(({ price_type }: any) => price_type === type).id}`;
      },
      base: async () => ({}),
      see: ({ subscription_id }) => seen(subscription_id),
      values: {
        amount: '40',
        billing_model: beside({ amount: '4', transform_quantity: undefined }, 'PACKAGE'),
        tiers: beside({ billing_model: 'TIERED', tier_mode: 'SLAB', tiers }, [
          { up_to: null, unit_amount: '9' },
        ]),
        transform_quantity: beside(packages, { divide_by: 3 }),
        commitment_amount: beside(committed, '60'),
        commitment_quantity: beside(
          { commitment_quantity: '50', commitment_true_up_enabled: true },
          '60',
        ),
        commitment_type: beside(committed, 'quantity'),
        commitment_duration: beside(committed, 'DAILY'),
        commitment_time_buckets: [{ a: 1 }],
        commitment_true_up_enabled: beside({ commitment_amount: '50' }, true),
        commitment_windowed: beside(committed, true),
        effective_from: beside({ amount: '40' }, SOON),
        metadata: { a: 'b' },
        proration_behavior: beside({ amount: '40' }, 'create_prorations'),
      },
    };
  },

  'POST /subscriptions/{id}/cancel': async ({ subscribe }) => ({
    path: async () => `/subscriptions/${(await subscribe()).id}/cancel`,
    base: async () => ({ cancellation_type: 'immediate' }),
    see: (_answer, path) => seen(path.split('/')[2]!),
    values: {
      cancel_at: beside({ cancellation_type: 'scheduled_date', cancel_at: SOON }, LATER),
      proration_behavior: 'create_prorations',
      reason: 'x',
      cancel_immediately_inovice_policy: 'skip',
      cancel_immediately_invoice_policy: 'skip',
    },
  }),

  'PUT /subscriptions/{id}': async ({ subscribe }) => ({
    path: async () => `/subscriptions/${(await subscribe()).id}`,
    base: async () => ({}),
    see: ({ id }) => seen(id),
    values: {
      status: 'cancelled',
      cancel_at: SOON,
      cancel_at_period_end: true,
      parent_subscription_id: NOBODY,
    },
  }),

  'POST /subscriptions/{id}/pause': async ({ subscribe }) => {
    return {
      path: async () => `/subscriptions/${(await subscribe()).id}/pause`,
      base: async () => ({}),
      see: (_answer, path) => seen(path.split('/')[2]!),
      values: {
        dry_run: true,
        pause_mode: 'period_end',
        pause_end: SOON,
        pause_days: 5,
        reason: 'x',
        metadata: { a: 'b' },
      },
    };
  },

  'POST /subscriptions/{id}/resume': async ({ subscribe }) => ({
    path: async () => {
      const { id } = await subscribe();
      await world.api.postOk(`/v1/subscriptions/${id}/pause`, {});
      return `/subscriptions/${id}/resume`;
    },
    base: async () => ({}),
    see: (_answer, path) => seen(path.split('/')[2]!),
    values: {
      dry_run: true,
      resume_at: beside({ resume_at: SOON, resume_mode: 'scheduled' }, LATER),
      metadata: { a: 'b' },
    },
  }),

  'POST /subscriptions/addon': async ({ subscribe, addon, addonUsage }) => ({
    base: async () => ({ subscription_id: (await subscribe()).id, addon_id: addon.id }),
    see: ({ entity_id }) => seen(entity_id),
    values: {
      quantity: '3',
      start_date: SOON,
      cadence: 'onetime',
      metadata: { a: 'b' },
      override_line_items: [{ price_id: addonUsage.id, amount: '7' }],
      line_item_commitments: {
        [addonUsage.id]: { commitment_amount: '50', overage_factor: '1', enable_true_up: true },
      },
      proration_behavior: 'create_prorations',
      checkout: beside(
        { proration_behavior: 'create_prorations' },
        { payment_provider: 'test', success_url: 'https://example.com' },
      ),
    },
  }),

  'POST /subscriptions/{id}/phases': async ({ subscribe, fee, metered, coupon }) => ({
    path: async () => {
      const first = { start_date: START, end_date: '2026-12-01T00:00:00.000Z' };
      return `/subscriptions/${(await subscribe({ phases: [first] })).id}/phases`;
    },
    base: async () => ({ start_date: '2026-12-01T00:00:00.000Z' }),
    see: async (_answer, path) => {
      const id = path.split('/')[2]!;
      const period = { period_start: '2026-12-01T00:00:00Z', period_end: '2027-01-01T00:00:00Z' };
      const next = await world.api.post('/v1/invoices/preview', { subscription_id: id, ...period });
      return [next.body.line_items, await get(`/subscriptions/${id}`)];
    },
    values: {
      end_date: '2027-02-01T00:00:00Z',
      line_items: [{ price: FEE }],
      override_line_items: [{ price_id: fee.id, amount: '7' }],
      line_item_commitments: {
        [metered.id]: { commitment_amount: '50', overage_factor: '1', enable_true_up: true },
      },
      coupons: [coupon.id],
      line_item_coupons: { [fee.id]: [coupon.id] },
      subscription_coupons: [{ coupon_code: coupon.coupon_code }],
      metadata: { a: 'b' },
    },
  }),

  'PUT /plans/{id}': async () => ({
    path: async () => `/plans/${(await world.catalog.plan()).id}`,
    base: async () => ({}),
    values: {
      ...{ name: 'x', description: 'x', display_order: 7, lookup_key: unique('plan') },
      metadata: { a: 'b' },
    },
  }),

  'PUT /prices/{id}': async () => {
    const tiered = {
      ...{ billing_model: 'TIERED', tier_mode: 'SLAB' },
      tiers: [
        { up_to: 4, unit_amount: '5' },
        { up_to: null, unit_amount: '1' },
      ],
    };
    const packages = {
      billing_model: 'PACKAGE',
      amount: '4',
      transform_quantity: { divide_by: 5 },
    };
    return {
      writes: 'POST /prices',
      path: async () =>
        `/prices/${(await world.catalog.fixed(await world.catalog.plan(), '30')).id}`,
      base: async () => ({}),
      see: async ({ entity_id }) => [
        (await world.api.postOk('/v1/prices/search', { plan_ids: [entity_id] })).items,
      ],
      values: {
        amount: '31',
        billing_model: beside({ amount: '4' }, 'PACKAGE'),
        tier_mode: beside(tiered, 'VOLUME'),
        tiers: beside(tiered, [{ up_to: null, unit_amount: '9' }]),
        transform_quantity: beside(packages, { divide_by: 3 }),
        bucket_size: 'DAY',
        price_unit_amount: '5',
        price_unit_tiers: [{ up_to: null, unit_amount: '9' }],
        effective_from: beside({ amount: '31' }, LATER),
        display_name: 'x',
        description: 'x',
        lookup_key: unique('price'),
        metadata: { a: 'b' },
        group_id: (
          await world.api.postOk('/v1/groups', {
            name: 'G',
            entity_type: 'price',
            lookup_key: 'gg',
          })
        ).id,
      },
    };
  },

  'PUT /entitlements/{id}': async ({ entitlement }) => ({
    writes: 'POST /entitlements',
    path: async () => {
      const { id } = await world.api.postOk('/v1/entitlements', {
        plan_id: (await world.catalog.plan()).id,
        ...{ feature_id: entitlement.feature_id, feature_type: 'metered', usage_limit: 4 },
        usage_reset_period: 'MONTHLY',
      });
      return `/entitlements/${id}`;
    },
    base: async () => ({}),
    values: {
      ...{ is_enabled: false, is_soft_limit: true, usage_limit: 5, usage_reset_period: 'DAILY' },
      config_value: { a: 1 },
      aggregation_mode: beside(OF_QUOTA, 'parallel'),
      grant_quota: beside(OF_QUOTA, '5'),
      grant_measure: beside(OF_QUOTA, 'amount'),
      grant_duration_unit: beside(OF_QUOTA, 'day'),
      grant_duration_value: beside(OF_QUOTA, 2),
      grant_allocation_behavior: beside(OF_QUOTA, 'unit_start'),
      display_order: 7,
    },
  }),

  'PUT /addons/{id}': async () => ({
    path: async () =>
      `/addons/${(await world.api.postOk('/v1/addons', { name: 'A', lookup_key: unique('a') })).id}`,
    base: async () => ({}),
    values: { name: 'x', description: 'x', metadata: { a: 'b' } },
  }),

  'PUT /coupons/{id}': async ({ coupon }) => ({
    path: async () => `/coupons/${coupon.id}`,
    base: async () => ({ name: 'Off', metadata: {} }),
    values: { name: 'x', metadata: { a: 'b' } },
  }),

  'PUT /customers/{id}': async () => ({
    writes: 'POST /customers',
    path: async () => `/customers/${(await world.catalog.customer()).id}`,
    base: async () => ({}),
    values: {
      ...{ email: 'a@example.com', contact: 'x', name: 'x', external_id: unique('customer') },
      contact_persons: [{ name: 'Ada', email: 'ada@example.com' }],
      ...{ address_line1: 'x', address_line2: 'x', address_city: 'x', address_state: 'x' },
      ...{ address_postal_code: 'x', address_country: 'DE', billing_currency: 'eur' },
      ...{ timezone: 'Europe/Berlin', customer_timezone: 'Europe/Berlin' },
      tax_treatment: 'exempt',
      metadata: { a: 'b' },
      integration_entity_mapping: [{ id: 'x', provider: 'stripe' }],
    },
  }),

  'PUT /wallets/{id}': async ({ customer }) => ({
    writes: 'POST /wallets',
    path: async () =>
      `/wallets/${(await world.api.postOk('/v1/wallets', { customer_id: (await world.catalog.customer()).id, currency: 'usd' })).id}`,
    base: async () => ({}),
    values: {
      ...{ name: 'x', description: 'x', wallet_type: 'POST_PAID', metadata: { a: 'b' } },
      config: { allowed_price_types: ['FIXED'] },
      alert_settings: { alert_enabled: true, critical: { threshold: '10', condition: 'below' } },
      auto_topup: { enabled: true, threshold: '5', amount: '20', invoicing: false },
      ...{ currency: 'eur', conversion_rate: '2', topup_conversion_rate: '2' },
    },
  }),

  'PUT /creditgrants/{id}': async () => ({
    path: async () => {
      const plan_id = (await world.catalog.plan()).id;
      const grant = await world.api.postOk('/v1/creditgrants', {
        ...{ name: 'Welcome', credits: '5', cadence: 'RECURRING', period: 'MONTHLY' },
        ...{ period_count: 1, expiration_type: 'NEVER', scope: 'PLAN', plan_id },
      });
      return `/creditgrants/${grant.id}`;
    },
    base: async () => ({}),
    values: { name: 'x', metadata: { a: 'b' } },
  }),

  'PUT /invoices/{id}': async ({ customer }) => ({
    path: async () => {
      const invoice = await world.api.postOk('/v1/invoices', {
        ...{ invoice_type: 'ONE_OFF', customer_id: customer.id, currency: 'usd' },
        line_items: [{ display_name: 'Fee', amount: '10', quantity: '1' }],
      });
      return `/invoices/${invoice.id}`;
    },
    base: async () => ({}),
    values: {
      metadata: { a: 'b' },
      invoice_pdf_url: 'https://example.com/x.pdf',
    },
  }),
};

describe('accepted means effective', () => {
  let made: Offer;
  beforeAll(async () => {
    world = await startBillingWorld();
    await world.api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
    made = await offer();
  });
  afterAll(() => world.stop());

  test.each(Object.keys(SUBJECTS))('%s', async (route) => {
    expect(await walkFields(world.api, route, await SUBJECTS[route]!(made))).toEqual([]);
  });
});

test('every field that another test shows is a field, and the test exists', () => {
  expect(staleReferences()).toEqual([]);
});
