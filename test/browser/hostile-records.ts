import type { PipelineWorld } from '../support/pipeline-world.ts';
import { recordsOf } from './paths.ts';

const PAYLOAD = '<img src=x onerror="globalThis.__ran=1"><script>globalThis.__ran=1</script>';
const FILLING = `${'شركة '.repeat(8)}\u202Eדוגמה\u202C 👩🏽‍💻🏴󠁧󠁢󠁥󠁮󠁧󠁿 `;
/** A script, right-to-left words with an override, emoji of several code points, and one word without end. */
export const hostileText = (length: number): string => {
  const text = PAYLOAD.length + FILLING.length > length ? PAYLOAD : PAYLOAD + FILLING;
  return text + 'x'.repeat(Math.max(0, length - text.length));
};

/** 20 digits before the point: the longest amounts that the API takes. */
const LONG = '12345678901234567890.12';
const AMOUNTS = [LONG, '0', `-${LONG}`, '0.01'];

/** Records whose every text and figure is as bad as the API accepts, by the path of their page. */
export async function hostileRecords({
  api,
  ...world
}: PipelineWorld): Promise<ReadonlyMap<string, string>> {
  const name = hostileText(255);
  const external_id = hostileText(200).replace(/\s/g, '');
  const meter = await api.postOk('/v1/meters', {
    name,
    event_name: 'x'.repeat(200),
    aggregation: { type: 'SUM', field: 'v' },
    filters: [{ key: 'x'.repeat(100), values: ['y'.repeat(200), 'z'] }],
    reset_usage: 'BILLING_PERIOD',
  });
  const plan = await api.postOk('/v1/plans', { name, description: hostileText(1_000) });
  const group = await api.postOk('/v1/groups', {
    ...{ name, lookup_key: hostileText(255), entity_type: 'price' },
    metadata: { [hostileText(100)]: hostileText(255) },
  });
  const price = {
    entity_type: 'PLAN',
    entity_id: plan.id,
    billing_period: 'MONTHLY',
    billing_period_count: 1,
    currency: 'usd',
    price_unit_type: 'FIAT',
    display_name: name,
  };
  await api.postOk('/v1/prices', {
    ...price,
    type: 'FIXED',
    billing_model: 'FLAT_FEE',
    invoice_cadence: 'ARREAR',
    amount: '99999999999.123456789012345678',
  });
  await api.postOk('/v1/prices', {
    ...price,
    type: 'USAGE',
    billing_model: 'FLAT_FEE',
    invoice_cadence: 'ARREAR',
    meter_id: meter.id,
    group_id: group.id,
    amount: '0.000000000000000001',
  });
  const feature = await api.postOk('/v1/features', {
    name,
    type: 'metered',
    meter_id: meter.id,
    unit_singular: 'u'.repeat(50),
    unit_plural: 'u'.repeat(50),
  });
  await api.postOk('/v1/entitlements', {
    plan_id: plan.id,
    feature_id: feature.id,
    feature_type: 'metered',
    usage_limit: 2_000_000_000,
    usage_reset_period: 'MONTHLY',
  });
  const addon = await api.postOk('/v1/addons', {
    name,
    lookup_key: hostileText(255),
    description: name,
  });
  await api.postOk('/v1/prices', {
    ...{ ...price, entity_type: 'ADDON', entity_id: addon.id, type: 'FIXED' },
    ...{ billing_model: 'FLAT_FEE', invoice_cadence: 'ARREAR', amount: '0.01' },
  });
  const customer = await api.postOk('/v1/customers', {
    external_id,
    name,
    address_line1: name,
    address_city: hostileText(100),
    metadata: { [hostileText(100)]: hostileText(255) },
  });
  const coupon = await api.postOk('/v1/coupons', {
    ...{ name, coupon_code: hostileText(255), type: 'fixed', currency: 'usd' },
    ...{ amount_off: LONG, cadence: 'repeated', duration_in_periods: 2_000_000_000 },
    ...{ max_redemptions: 1_000_000, metadata: { [hostileText(100)]: hostileText(255) } },
  });
  const subscription = await api.postOk('/v1/subscriptions', {
    customer_id: customer.id,
    plan_id: plan.id,
    billing_period: 'MONTHLY',
    billing_period_count: 1,
    currency: 'usd',
    addons: [{ addon_id: addon.id }],
    coupons: [coupon.id],
  });
  await api.postOk('/v1/alerts/setting', {
    ...{ entity_type: 'group', entity_id: group.id },
    ...{ parent_entity_type: 'subscription', parent_entity_id: subscription.id },
    config: { alert_enabled: true, critical: { threshold: LONG, condition: 'above' } },
  });
  const rate = await api.postOk('/v1/taxes/rates', {
    ...{ name, code: hostileText(255), tax_rate_type: 'percentage' },
    ...{ percentage_value: '0.000000000000000001', description: hostileText(1_000) },
    metadata: { [hostileText(100)]: hostileText(255) },
  });
  for (const entity of [
    { entity_type: 'customer', entity_id: customer.id },
    { entity_type: 'subscription', entity_id: subscription.id },
  ])
    await api.postOk('/v1/taxes/associations', {
      ...{ ...entity, tax_rate_code: rate.code, auto_apply: true, priority: 2_000_000_000 },
    });
  const invoice = await api.postOk('/v1/invoices', {
    customer_id: customer.id,
    invoice_type: 'ONE_OFF',
    currency: 'usd',
    line_items: AMOUNTS.map((amount) => ({ display_name: name, amount, quantity: '1' })),
  });
  const wallet = await api.postOk('/v1/wallets', {
    customer_id: customer.id,
    currency: 'usd',
    name,
    description: hostileText(1_000),
    metadata: { [hostileText(100)]: hostileText(255) },
    alert_settings: {
      alert_enabled: true,
      critical: { threshold: LONG, condition: 'below' },
    },
  });
  await api.postOk(`/v1/wallets/${wallet.id}/top-up`, {
    credits_to_add: '99999999999999.123456789012345678',
    transaction_reason: 'FREE_CREDIT_GRANT',
    idempotency_key: 'hostile',
  });
  // After the subscription, which would get a wallet of it.
  await api.postOk('/v1/creditgrants', {
    ...{ name, scope: 'ADDON', addon_id: addon.id, credits: '99999999999999.12345678' },
    ...{ cadence: 'ONETIME', expiration_type: 'NEVER' },
  });
  const endpoint = await api.postOk('/v1/webhooks/endpoints', {
    url: `https://example.com/${'h'.repeat(500)}`,
    description: name,
  });
  const { costsheet } = await api.postOk('/v1/costs', {
    ...{ name, lookup_key: hostileText(255), description: hostileText(1_000) },
  });
  await api.postOk('/v1/prices', {
    ...{ ...price, entity_type: 'COSTSHEET', entity_id: costsheet.id, type: 'USAGE' },
    ...{ billing_model: 'FLAT_FEE', invoice_cadence: 'ARREAR', meter_id: meter.id },
    amount: '0.000000000000000001',
  });
  const bucket = await api.postOk('/v1/connections', { name, provider_type: 's3' });
  const scheduled = await api.postOk('/v1/tasks/scheduled', {
    ...{ connection_id: bucket.id, entity_type: 'events', interval: 'daily' },
    job_config: { bucket: 'b'.repeat(63), region: 'r'.repeat(64), key_prefix: hostileText(512) },
  });
  const clock = await api.postOk('/v1/test-clocks', { name, now: '2026-01-01T00:00:00Z' });
  const at = new Date(api.clock.now() - 60_000).toISOString();
  const event_id = 'e'.repeat(200);
  await world.send([
    {
      event_id,
      event_name: 'x'.repeat(200),
      external_customer_id: external_id,
      timestamp: at,
      source: hostileText(200),
      properties: {
        v: '99999999999999999999',
        ['x'.repeat(100)]: 'z',
        text: hostileText(1_000),
      },
    },
  ]);
  await world.settled();
  return recordsOf({
    addons: addon.id,
    'cost-sheets': costsheet.id,
    coupons: coupon.id,
    customers: customer.id,
    events: event_id,
    features: feature.id,
    invoices: invoice.id,
    'late-usage': invoice.id,
    meters: meter.id,
    plans: plan.id,
    'price-groups': group.id,
    'scheduled-exports': scheduled.id,
    subscriptions: subscription.id,
    'tax-rates': rate.id,
    'test-clocks': clock.id,
    wallets: wallet.id,
    webhooks: endpoint.id,
  });
}
