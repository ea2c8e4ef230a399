import type { TestApi, TestCaller } from './api.ts';
import { catalogOf } from './catalog.ts';

/** Kind of record → how a request names it: an id, a code or an external id. */
export type Records = Readonly<Record<string, string>>;

let counter = 0;
const FEE = {
  type: 'FIXED', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE', amount: '5',
}; // prettier-ignore
const START = '2026-11-01T00:00:00Z';

/** What an environment sells and is set up with: one record of every kind that no customer owns. */
export async function commonRecords(api: TestApi, caller: TestCaller): Promise<Records> {
  counter += 1;
  const { postOk } = caller;
  const catalog = catalogOf(caller);
  const meter = await catalog.meter();
  const feature = await postOk('/v1/features', {
    name: 'Calls',
    type: 'metered',
    meter_id: meter.id,
  });
  const flag = await postOk('/v1/features', { name: 'Flag', type: 'boolean' });
  const groupOf = (entity_type: string) =>
    postOk('/v1/groups', { name: 'G', lookup_key: `${entity_type}-${counter}`, entity_type });
  const [group, featureGroup] = [await groupOf('price'), await groupOf('feature')];
  const unit = await postOk('/v1/prices/units', {
    ...{ name: 'Credits', code: `u${counter}c`, symbol: 'c', base_currency: 'usd' },
    conversion_rate: '0.01',
  });
  const plan = await catalog.plan();
  const price = await catalog.fixed(plan, '30');
  const usagePrice = await catalog.usage(plan, meter, { amount: '2' });
  const other = await catalog.plan('Other');
  const otherPrice = await catalog.fixed(other, '3');
  const addon = await postOk('/v1/addons', { name: 'Addon', lookup_key: `addon-${counter}` });
  const addonPrice = await postOk('/v1/prices', {
    ...{ ...FEE, currency: 'usd', entity_type: 'ADDON', entity_id: addon.id },
  });
  const otherAddon = await postOk('/v1/addons', { name: 'Other', lookup_key: `other-${counter}` });
  const addonUsagePrice = await postOk('/v1/prices', {
    ...{ ...FEE, currency: 'usd', entity_type: 'ADDON', entity_id: otherAddon.id, type: 'USAGE' },
    ...{ invoice_cadence: 'ARREAR', meter_id: (await catalog.meter()).id },
  });
  const spareMeter = await catalog.meter();
  const otherFeature = await postOk('/v1/features', {
    ...{ name: 'Other', type: 'metered', meter_id: (await catalog.meter()).id },
  });
  const otherEntitlement = await postOk('/v1/entitlements', {
    ...{ plan_id: other.id, feature_id: otherFeature.id, feature_type: 'metered' },
    ...{ usage_limit: 5, usage_reset_period: 'MONTHLY' },
  });
  const entitlement = await postOk('/v1/entitlements', {
    ...{ plan_id: plan.id, feature_id: feature.id, feature_type: 'metered' },
    ...{ usage_limit: 5, usage_reset_period: 'MONTHLY' },
  });
  const coupon = await postOk('/v1/coupons', {
    ...{ name: 'Off', type: 'percentage', percentage_off: '10', cadence: 'forever' },
    coupon_code: `code-${counter}`,
  });
  const otherCoupon = await postOk('/v1/coupons', {
    ...{ name: 'Off', type: 'percentage', percentage_off: '10', cadence: 'forever' },
    coupon_code: `other-${counter}`,
  });
  const tax = await postOk('/v1/taxes/rates', {
    ...{ name: 'VAT', code: `vat-${counter}`, percentage_value: '20' },
    tax_rate_type: 'percentage',
  });
  const otherTax = await postOk('/v1/taxes/rates', {
    ...{ name: 'GST', code: `gst-${counter}`, percentage_value: '5' },
    tax_rate_type: 'percentage',
  });
  const { costsheet } = await postOk('/v1/costs', { name: 'Infra' });
  const clock = await postOk('/v1/test-clocks', { name: 'C', now: '2026-11-21T12:00:00Z' });
  const account = await postOk('/v1/users', {
    ...{ type: 'service_account', name: 'Bot', roles: ['event_ingestor'] },
  });
  const gateway = await postOk('/v1/connections', { name: 'Tests', provider_type: 'test' });
  await postOk('/v1/connections', {
    ...{ name: 'Cards', provider_type: 'stripe' },
    sync_config: { customer: { outbound: true } },
  });
  const storage = await postOk('/v1/connections', { name: 'Bucket', provider_type: 's3' });
  const endpoint = await postOk('/v1/webhooks/endpoints', { url: 'https://example.com/hooks' });
  const events = 'event_name,external_customer_id,timestamp\ncall,acme,2026-11-01T00:00:00Z\n';
  const uploaded = await caller.call('POST', '/v1/tasks/uploads', events, {
    'content-type': 'text/csv',
  });
  await api.pool`update meter_versions set backfill_state = 'complete'`;
  const [version] = await api.pool<{ id: string }[]>`
    select id from meter_versions where meter_id = ${meter.id}`;
  const [notification] = await api.pool<{ id: string }[]>`
    update outbox set delivered_at = occurred_at
     where environment_id = ${caller.scope.environment_id} and event_type = 'feature.created'
    returning id`;
  const scheduled = await postOk('/v1/tasks/scheduled', {
    ...{ connection_id: storage.id, entity_type: 'invoice', interval: 'daily' },
    job_config: { bucket: 'b', region: 'eu-west-1' },
  });
  const { workflow_id } = await postOk(`/v1/tasks/scheduled/${scheduled.id}/run`);
  const emptyEnvironment = api.deps.ids.next('env');
  await api.pool`insert into environments ${api.pool({
    ...{ id: emptyEnvironment, tenant_id: caller.scope.tenant_id, name: 'Empty' },
    ...{ type: 'development', created_at: START, updated_at: START },
  })}`;
  return {
    meter: meter.id,
    feature: feature.id,
    flag: flag.id,
    group: group.id,
    featureGroup: featureGroup.id,
    unitCode: unit.code,
    plan: plan.id,
    otherPlan: other.id,
    shelfPlan: (await catalog.plan('Shelf')).id,
    shelfAddon: (await postOk('/v1/addons', { name: 'Shelf', lookup_key: `shelf-${counter}` })).id,
    price: price.id,
    usagePrice: usagePrice.id,
    otherPrice: otherPrice.id,
    addon: addon.id,
    addonPrice: addonPrice.id,
    entitlement: entitlement.id,
    coupon: coupon.id,
    couponCode: coupon.coupon_code,
    otherCouponCode: otherCoupon.coupon_code,
    tax: tax.id,
    taxCode: tax.code,
    costsheet: costsheet.id,
    clock: clock.id,
    account: account.id,
    gateway: gateway.id,
    storage: storage.id,
    endpoint: endpoint.id,
    upload: uploaded.body.id,
    otherAddon: otherAddon.id,
    addonUsagePrice: addonUsagePrice.id,
    spareMeter: spareMeter.id,
    freeMeter: (await catalog.meter()).id,
    otherFeature: otherFeature.id,
    otherEntitlement: otherEntitlement.id,
    otherTax: otherTax.id,
    otherTaxCode: otherTax.code,
    meterVersion: version!.id,
    notification: notification!.id,
    workflow: workflow_id,
    emptyEnvironment,
    environment: caller.scope.environment_id,
  };
}

/** A customer, and one record of every kind that customers own. */
export async function customerRecords(
  api: TestApi,
  caller: TestCaller,
  common: Records,
): Promise<Records> {
  counter += 1;
  const { postOk } = caller;
  const catalog = catalogOf(caller);
  const customer = await catalog.customer({ external_id: `external-${counter}` });
  const subscription = await catalog.subscribe(customer, { id: common['plan']! }, {
    start_date: START,
    addons: [{ addon_id: common['addon'] }],
    coupons: [common['coupon']],
    tax_rate_overrides: [{ tax_rate_code: common['taxCode'], currency: 'usd' }],
    override_line_items: [{ price_id: common['price'], amount: '40' }],
    override_entitlements: [{ entitlement_id: common['entitlement'], usage_limit: 7 }],
    line_items: [{ price: FEE }],
  }); // prettier-ignore
  const later = await catalog.subscribe(customer, { id: common['otherPlan']! }, {
    start_date: START,
  }); // prettier-ignore
  const row = (table: string, field: string, of: string) =>
    api.pool`
      select id from ${api.pool(table)} where ${api.pool(field)} = ${of} order by id limit 1`.then(
      ([found]) => {
        if (found === undefined) throw new Error(`no ${table} of ${of}`);
        return found['id'] as string;
      },
    );
  const lines = subscription.line_items as { id: string; price_id: string; price_type: string }[];
  const fixed = lines.find(
    (line) => line.price_type === 'FIXED' && line.price_id !== common['addonPrice'],
  )!;
  const inheriting = await catalog.customer({ external_id: `inheriting-${counter}` });
  const phased = await catalog.subscribe(customer, { id: common['plan']! }, {
    start_date: START,
    phases: [{ start_date: START }],
    inheritance: {
      external_customer_ids_to_inherit_subscription: [inheriting.external_id],
    },
  }); // prettier-ignore
  const oneOff = () =>
    postOk('/v1/invoices', {
      ...{ customer_id: customer.id, invoice_type: 'ONE_OFF', currency: 'usd' },
      line_items: [{ amount: '50', quantity: '1', display_name: 'Fee' }],
    });
  const [invoice, other] = [await oneOff(), await oneOff()];
  const payment = await postOk('/v1/payments', {
    ...{ destination_type: 'CUSTOMER', destination_id: customer.id, amount: '5', currency: 'usd' },
    payment_method_type: 'OFFLINE',
  });
  const openPayment = await postOk('/v1/payments', {
    ...{ destination_type: 'INVOICE', destination_id: other.id, amount: '5', currency: 'usd' },
    ...{ payment_method_type: 'CARD', payment_gateway: 'stripe', process_payment: false },
  });
  const member = await catalog.customer({ external_id: `member-${counter}` });
  const method = api.deps.ids.next('pm');
  await api.pool`insert into payment_methods ${api.pool({
    ...{ id: method, ...caller.scope, customer_id: customer.id, connection_id: common['gateway']! },
    ...{ payment_gateway: 'test', gateway_method_id: 'pm_test_success', method_type: 'card' },
  })}`;
  const schedule = api.deps.ids.next('sched');
  await api.pool`insert into subscription_schedules ${api.pool({
    ...{ id: schedule, ...caller.scope, subscription_id: later.id, schedule_type: 'plan_change' },
    ...{ schedule_status: 'pending', scheduled_at: '2026-12-01T00:00:00Z' },
  })}`;
  const wallet = await postOk('/v1/wallets', {
    ...{ customer_id: customer.id, currency: 'usd', wallet_type: 'POST_PAID' },
    initial_credits_to_load: '5',
  });
  return {
    customer: customer.id,
    externalCustomer: customer.external_id,
    subscription: subscription.id,
    laterSubscription: later.id,
    subscriptionLine: fixed.id,
    subscriptionPrice: fixed.price_id,
    addonAssociation: await row('addon_associations', 'subscription_id', subscription.id),
    couponAssociation: await row('coupon_associations', 'subscription_id', subscription.id),
    taxAssociation: await row('tax_associations', 'entity_id', subscription.id),
    subscriptionEntitlement: await row('entitlements', 'entity_id', subscription.id),
    phasedSubscription: phased.id,
    phase: await row('subscription_phases', 'subscription_id', phased.id),
    invoice: invoice.id,
    invoiceLine: invoice.line_items[0].id,
    payment: payment.id,
    openPayment: openPayment.id,
    memberExternal: member.external_id,
    inheritingExternal: inheriting.external_id,
    paymentMethod: method,
    schedule,
    wallet: wallet.id,
  };
}
