import type { TestApi } from './api.ts';
import { fixedPriceBody } from './price-body.ts';

/** One record of every kind in the scope of the first caller, and how routes name them. */
export interface World {
  /** `/plans/{id}` → the id: the path up to and with the parameter. */
  readonly foreign: Readonly<Record<string, string>>;
  /** Bodies that pass validation, for routes whose `{}` would be a 400. */
  readonly bodies: Readonly<Record<string, object>>;
  /** Queries without which a route is a 400. */
  readonly queries: Readonly<Record<string, string>>;
  /** Calls that name records in their bodies. */
  readonly references: readonly (readonly [string, object])[];
  /** Search filters that name the records. */
  readonly filters: Readonly<Record<string, object>>;
  /** Routes about the tenant as a whole: another environment of it may see them. */
  readonly tenantWide: readonly string[];
  /** Routes whose parameter is no record. */
  readonly withoutRecord: readonly string[];
  readonly ids: readonly string[];
}

/** The id of an event that the world's owner has in the usage store, where the test has one. */
export const WORLD_EVENT_ID = 'event-of-the-owner';

const SPEND_ALERT = { alert_enabled: true, critical: { threshold: '100', condition: 'above' } };

export async function createWorld(api: TestApi): Promise<World> {
  const meter = await api.postOk('/v1/meters', {
    name: 'Calls',
    event_name: 'call',
    aggregation: { type: 'COUNT' },
    reset_usage: 'BILLING_PERIOD',
  });
  const feature = await api.postOk('/v1/features', {
    name: 'Calls',
    type: 'metered',
    meter_id: meter.id,
  });
  const flag = await api.postOk('/v1/features', { name: 'Flag', type: 'boolean' });
  const group = await api.postOk('/v1/groups', {
    name: 'G',
    lookup_key: 'g',
    entity_type: 'price',
  });
  const plan = await api.postOk('/v1/plans', { name: 'Pro', lookup_key: 'pro' });
  const addon = await api.postOk('/v1/addons', { name: 'Extra', lookup_key: 'extra' });
  const unit = await api.postOk('/v1/prices/units', {
    name: 'Credits',
    code: 'crd',
    symbol: 'c',
    base_currency: 'usd',
    conversion_rate: '0.01',
  });
  const flatFee = fixedPriceBody(plan.id);
  const price = await api.postOk('/v1/prices', {
    ...flatFee,
    lookup_key: 'fee',
  });
  const entitlement = await api.postOk('/v1/entitlements', {
    plan_id: plan.id,
    feature_id: feature.id,
    feature_type: 'metered',
    usage_limit: 5,
  });
  const grant = await api.postOk('/v1/creditgrants', {
    name: 'Welcome',
    scope: 'PLAN',
    plan_id: plan.id,
    credits: '5',
    cadence: 'ONETIME',
    expiration_type: 'NEVER',
  });
  const testClock = await api.postOk('/v1/test-clocks', {
    name: 'Leap',
    now: '2024-02-29T00:00:00Z',
  });
  const customer = await api.postOk('/v1/customers', { external_id: 'acme', name: 'Acme' });
  const wallet = await api.postOk('/v1/wallets', {
    customer_id: customer.id,
    currency: 'usd',
    initial_credits_to_load: '5',
  });
  const monthly = { currency: 'usd', billing_period: 'MONTHLY', billing_cycle: 'anniversary' };
  const subscription = (await api.postOk('/v1/subscriptions', {
    ...monthly,
    customer_id: customer.id,
    plan_id: plan.id,
  })) as { id: string; line_items: { id: string }[] };
  const lineItem = subscription.line_items[0]!;
  const receiver = await api.postOk('/v1/webhooks/endpoints', { url: 'https://example.com/hooks' });
  const found = await api.post('/v1/invoices/search', { subscription_id: subscription.id });
  const [invoice] = found.body.items as { id: string; line_items: { id: string }[] }[];
  if (invoice === undefined) throw new Error('the subscription has no opening invoice');
  const payment = await api.postOk('/v1/payments', {
    destination_type: 'CUSTOMER',
    destination_id: customer.id,
    payment_method_type: 'OFFLINE',
    amount: '5',
    currency: 'usd',
  });
  const refund = await api.postOk('/v1/refunds', { payment_id: payment.id, amount: '1' });
  const session = { id: api.deps.ids.next('cs') };
  await api.pool`insert into checkout_sessions ${api.pool({
    ...session,
    ...api.scope,
    customer_id: customer.id,
    action: 'pay_invoice',
    checkout_status: 'completed',
    payment_provider: 'test',
    target_key: 'none',
    expires_at: '2026-11-01T00:00:00Z',
  })}`;
  const note = await api.postOk('/v1/creditnotes', {
    invoice_id: invoice.id,
    reason: 'BILLING_ERROR',
    line_items: [{ invoice_line_item_id: invoice.line_items[0]!.id, amount: '0.01' }],
  });
  const coupon = await api.postOk('/v1/coupons', {
    name: 'Ten',
    type: 'percentage',
    percentage_off: '10',
    cadence: 'forever',
    coupon_code: 'ten',
  });
  const association = { id: api.deps.ids.next('coupon_assoc') };
  await api.pool`insert into coupon_associations ${api.pool({
    ...association,
    ...api.scope,
    coupon_id: coupon.id,
    subscription_id: subscription.id,
    start_date: '2026-11-01T00:00:00Z',
  })}`;
  const phase = { id: api.deps.ids.next('phase') };
  await api.pool`insert into subscription_phases ${api.pool({
    ...phase,
    ...api.scope,
    subscription_id: subscription.id,
    start_date: '2026-11-01T00:00:00Z',
  })}`;
  const pause = { id: api.deps.ids.next('pause') };
  await api.pool`insert into subscription_pauses ${api.pool({
    ...pause,
    ...api.scope,
    subscription_id: subscription.id,
    pause_mode: 'scheduled',
    pause_status: 'cancelled',
    pause_start: '2026-11-01T00:00:00Z',
    original_period_start: '2026-11-01T00:00:00Z',
    original_period_end: '2026-12-01T00:00:00Z',
  })}`;
  const schedule = { id: api.deps.ids.next('sched') };
  await api.pool`insert into subscription_schedules ${api.pool({
    ...schedule,
    ...api.scope,
    subscription_id: subscription.id,
    schedule_type: 'plan_change',
    schedule_status: 'cancelled',
    scheduled_at: '2026-12-01T00:00:00Z',
  })}`;
  const connection = await api.postOk('/v1/connections', {
    name: 'Cards',
    provider_type: 'stripe',
  });
  const link = {
    entity_type: 'customer',
    entity_id: customer.id,
    provider_type: 'stripe',
    provider_entity_id: 'cus_1',
  };
  const savedMethod = { id: api.deps.ids.next('pm') };
  await api.pool`insert into payment_methods ${api.pool({
    ...savedMethod,
    ...api.scope,
    customer_id: customer.id,
    connection_id: connection.id,
    payment_gateway: 'test',
    gateway_method_id: 'pm_test_success',
    method_type: 'card',
  })}`;
  const mapping = await api.postOk('/v1/entity-integration-mappings', link);
  const storage = await api.postOk('/v1/connections', { name: 'Bucket', provider_type: 's3' });
  const scheduled = {
    connection_id: storage.id,
    entity_type: 'events',
    interval: 'daily',
    job_config: { bucket: 'b', region: 'eu-west-1' },
  };
  const scheduledTask = await api.postOk('/v1/tasks/scheduled', scheduled);
  const run = await api.post(`/v1/tasks/scheduled/${scheduledTask.id}/run`);
  const { workflow_id, workflow_id: run_id } = run.body;
  const alertSetting = await api.postOk('/v1/alerts/setting', {
    entity_type: 'subscription',
    entity_id: subscription.id,
    config: SPEND_ALERT,
  });
  const rate = { tax_rate_type: 'percentage', percentage_value: '20' };
  const tax = await api.postOk('/v1/taxes/rates', { ...rate, name: 'VAT', code: 'vat' });
  const unusedTax = await api.postOk('/v1/taxes/rates', { ...rate, name: 'GST', code: 'gst' });
  const taxed = await api.postOk('/v1/taxes/associations', {
    tax_rate_code: 'vat',
    entity_type: 'customer',
    entity_id: customer.id,
  });
  const costsheet = (
    (await api.postOk('/v1/costs', { name: 'Infra' })) as unknown as { costsheet: { id: string } }
  ).costsheet;
  const account = await api.postOk('/v1/users', {
    type: 'service_account',
    name: 'Bot',
    roles: ['event_ingestor'],
  });
  const { secret } = (await api.postOk('/v1/secrets/api/keys', {
    name: 'Bot',
    type: 'private_key',
    service_account_id: account.id,
  })) as unknown as { secret: { id: string } };
  const correction = { id: api.deps.ids.next('correction') };
  await api.pool`insert into corrections ${api.pool({
    ...correction,
    ...api.scope,
    event_id: 'event-taken-back',
    reason: 'sent by mistake',
    request_id: 'req',
  })}`;
  await api.get('/v1/customers/portal/acme');
  const { body: open } = await api.get('/v1/portal/sessions');
  const [portalSession] = open.items as { id: string }[];
  if (portalSession === undefined) throw new Error('the portal session is not open');
  const view = await api.postOk('/v1/saved-views', {
    name: 'Mine',
    page: 'analytics',
    query: 'zone=UTC',
  });
  const events = 'event_name,external_customer_id,timestamp\ncall,acme,2026-11-01T00:00:00Z\n';
  const sendEvents = async (): Promise<string> =>
    (await api.call('POST', '/v1/tasks/uploads', events, { 'content-type': 'text/csv' })).body.id;
  const file_provider = 'csvbox';
  const task = await api.postOk('/v1/tasks', { upload_id: await sendEvents(), file_provider });
  const upload_id = await sendEvents();
  // No stream runs beside these tests: complete the backfills of the meters.
  await api.pool`update meter_versions set backfill_state = 'complete'`;
  const { environment_id, tenant_id } = api.scope;

  return {
    ids: [
      ...[meter, feature, flag, group, plan, addon, unit, price, entitlement, grant],
      ...[correction, customer, subscription, invoice, coupon, association, tax, taxed, costsheet],
      ...[account, secret, alertSetting, task, payment, wallet],
      ...[connection, mapping, storage, scheduledTask, receiver, lineItem, view],
    ].map((record) => record.id),
    foreign: {
      '/events/{id}': WORLD_EVENT_ID,
      '/events/corrections/{id}': correction.id,
      '/meters/{id}': meter.id,
      '/features/{id}': feature.id,
      '/groups/{id}': group.id,
      '/plans/{id}': plan.id,
      '/addons/{id}': addon.id,
      '/addons/lookup/{lookup_key}': 'extra',
      '/prices/{id}': price.id,
      '/prices/lookup/{lookup_key}': 'fee',
      '/prices/units/{id}': unit.id,
      '/prices/units/code/{code}': 'crd',
      '/entitlements/{id}': entitlement.id,
      '/creditgrants/{id}': grant.id,
      '/customers/{id}': customer.id,
      '/customers/{id}/payment-methods/{payment_method_id}': savedMethod.id,
      '/customers/external/{external_id}': 'acme',
      '/customers/lookup/{lookup_key}': 'acme',
      '/customers/portal/{external_id}': 'acme',
      '/users/me/sessions/{id}': 'none',
      '/portal/sessions/{id}': portalSession.id,
      '/subscriptions/{id}': subscription.id,
      '/subscriptions/{id}/phases/{phase_id}': phase.id,
      '/subscriptions/{id}/pauses/{pause_id}': pause.id,
      '/subscriptions/lineitems/{id}': lineItem.id,
      '/subscriptions/schedules/{schedule_id}': schedule.id,
      '/v1/subscriptions/schedules/{schedule_id}': schedule.id,
      '/v1/subscription-schedules/{id}': schedule.id,
      '/v1/subscriptions/{subscription_id}': subscription.id,
      '/webhooks/endpoints/{id}': receiver.id,
      '/saved-views/{id}': view.id,
      '/invoices/{id}': invoice.id,
      '/invoices/{id}/lines/{line_id}': invoice.line_items[0]!.id,
      '/payments/{id}': payment.id,
      '/checkout/sessions/{id}': session.id,
      '/test-clocks/{id}': testClock.id,
      '/test-gateway/payments/{id}': payment.id,
      '/refunds/{id}': refund.id,
      '/creditnotes/{id}': note.id,
      '/coupons/{id}': coupon.id,
      '/coupons/code/{code}': 'ten',
      '/coupons/associations/{id}': association.id,
      '/wallets/{id}': wallet.id,
      '/alerts/setting/{id}': alertSetting.id,
      '/connections/{id}': connection.id,
      '/tasks/scheduled/{id}': scheduledTask.id,
      '/workflows/{workflow_id}': run.body.workflow_id,
      '/workflows/{workflow_id}/{run_id}': run.body.workflow_id,
      '/secrets/integrations/{id}': connection.id,
      '/secrets/integrations/by-provider/{provider}': 'stripe',
      '/secrets/integrations/create/{provider}': 'stripe',
      '/entity-integration-mappings/{id}': mapping.id,
      '/tasks/{id}': task.id,
      '/taxes/rates/{id}': unusedTax.id,
      '/taxes/associations/{id}': taxed.id,
      '/costs/{id}': costsheet.id,
      '/users/{id}': account.id,
      '/secrets/api/keys/{id}': secret.id,
      '/tenants/{id}': tenant_id,
      '/rbac/roles/{id}': 'all_reader',
      '/environments/{id}': environment_id,
      '/settings/{key}': 'invoice_config',
    },
    queries: {
      'POST /invoices/{id}/webhook/trigger': '?event_name=invoice.update.payment',
    },
    bodies: {
      'POST /subscriptions/schedules/{schedule_id}/cancel': { schedule_id: schedule.id },
      'POST /v1/subscriptions/schedules/{schedule_id}/cancel': { schedule_id: schedule.id },
      'POST /test-clocks/{id}/advance': { to: '2024-03-01T00:00:00Z' },
      'POST /invoices/{id}/modify/execute': { apply_discount: true },
      'POST /invoices/{id}/late-usage/settle': { as: 'invoice' },
      'POST /invoices/{id}/late-usage/preview': { as: 'invoice' },
      'POST /customers/{id}/payment-methods': { gateway_method_id: 'pm_test_success' },
      'POST /customers/{id}/erase': { reason: 'asked for' },
      'POST /meters/{id}/test': { event: { event_name: 'call', external_customer_id: 'acme' } },
      'POST /environments/{id}/clone': { name: 'Copy', type: 'development' },
      'POST /subscriptions/{id}/cancel': { cancellation_type: 'immediate' },
      'POST /subscriptions/{id}/activate': { start_date: '2026-11-01T00:00:00Z' },
      'POST /subscriptions/{id}/activate/preview': { start_date: '2026-11-01T00:00:00Z' },
      'POST /subscriptions/{id}/lineitems': { price_id: price.id },
      'POST /subscriptions/{id}/modify/preview': {
        type: 'trial_end',
        trial_end_params: { action: 'immediate' },
      },
      'POST /subscriptions/{id}/modify/execute': {
        type: 'trial_end',
        trial_end_params: { action: 'immediate' },
      },
      'POST /subscriptions/{id}/change/preview': earlierChange(plan.id),
      'POST /subscriptions/{id}/change/execute': earlierChange(plan.id),
      'POST /subscriptions/{id}/change/v2/preview': { target_plan_id: plan.id },
      'POST /subscriptions/{id}/change/v2/execute': { target_plan_id: plan.id },
      'POST /subscriptions/{id}/phases': { start_date: '2027-11-01T00:00:00Z' },
      'POST /wallets/{id}/top-up': {
        credits_to_add: '1',
        transaction_reason: 'FREE_CREDIT_GRANT',
      },
      'POST /wallets/{id}/debit': {
        credits: '1',
        transaction_reason: 'MANUAL_BALANCE_DEBIT',
        idempotency_key: 'stranger',
      },
      'POST /wallets/{id}/modify': { modification_type: 'prepaid_to_postpaid' },
      'PUT /alerts/setting/{id}': { config: SPEND_ALERT },
      'PUT /tasks/scheduled/{id}': { enabled: false },
      'PUT /tasks/{id}/status': { task_status: 'FAILED' },
      'POST /test-gateway/payments/{id}/outcome': { outcome: 'success' },
      'PUT /invoices/{id}/payment': { payment_status: 'FAILED' },
      'PUT /users/{id}': { name: 'x' },
      'PUT /users/{id}/roles': { roles: ['all_reader'] },
      'PUT /meters/{id}': { filters: [{ key: 'a', values: ['b'] }] },
      'POST /features/{id}/clone': { name: 'Copy', lookup_key: 'copy' },
      'POST /plans/{id}/clone': { name: 'Copy', lookup_key: 'copy' },
    },
    references: [
      [
        'POST /v1/invoices',
        {
          customer_id: customer.id,
          invoice_type: 'ONE_OFF',
          currency: 'usd',
          line_items: [{ amount: '5', quantity: '1' }],
        },
      ],
      ['POST /v1/events/corrections', { event_id: WORLD_EVENT_ID, reason: 'x' }],
      ['POST /v1/features', { name: 'x', type: 'metered', meter_id: meter.id }],
      ['POST /v1/features', { name: 'x', type: 'boolean', group_id: group.id }],
      [
        'POST /v1/creditnotes',
        {
          invoice_id: invoice.id,
          reason: 'BILLING_ERROR',
          line_items: [{ invoice_line_item_id: invoice.line_items[0]!.id, amount: '0.02' }],
        },
      ],
      ['POST /v1/refunds', { payment_id: payment.id, amount: '1' }],
      [
        'POST /v1/payments',
        {
          destination_type: 'INVOICE',
          destination_id: invoice.id,
          payment_method_type: 'OFFLINE',
          amount: '1',
          currency: 'usd',
        },
      ],
      ['POST /v1/timeline/search', { customer_id: customer.id }],
      ['POST /v1/timeline/search', { subscription_id: subscription.id }],
      ['POST /v1/timeline/search', { invoice_id: invoice.id }],
      ['POST /v1/prices', flatFee],
      ['POST /v1/prices/calculate', { price_id: price.id, quantities: ['1'] }],
      ['POST /v1/prices', { ...flatFee, entity_type: 'ADDON', entity_id: addon.id }],
      ['POST /v1/prices/bulk', { items: [flatFee] }],
      ['POST /v1/entitlements', { plan_id: plan.id, feature_id: flag.id, feature_type: 'boolean' }],
      [
        'POST /v1/creditgrants',
        {
          name: 'x',
          scope: 'PLAN',
          plan_id: plan.id,
          credits: '5',
          cadence: 'ONETIME',
          expiration_type: 'NEVER',
        },
      ],
      ['POST /v1/wallets', { customer_id: customer.id, currency: 'eur' }],
      ['POST /v1/subscriptions', { ...monthly, customer_id: customer.id, plan_id: plan.id }],
      [
        'POST /v1/taxes/associations',
        { tax_rate_code: 'vat', entity_type: 'tenant', entity_id: tenant_id },
      ],
      ['POST /v1/prices', { ...flatFee, entity_type: 'COSTSHEET', entity_id: costsheet.id }],
      ['PUT /v1/customers?external_customer_id=acme', { name: 'x' }],
      ['POST /v1/tasks', { upload_id, file_provider }],
      ['POST /v1/tasks/scheduled', scheduled],
      ['POST /v1/workflows/batch', { workflows: [{ workflow_id, run_id }] }],
      ['POST /v1/integrations/link', link],
      ['DELETE /v1/integrations/link', link],
      ['POST /v1/integrations/sync', link],
      [
        'POST /v1/alerts/setting',
        { entity_type: 'subscription', entity_id: subscription.id, config: SPEND_ALERT },
      ],
    ],
    filters: {
      '/events/corrections/search': { correction_ids: [correction.id] },
      '/meters/search': { meter_ids: [meter.id] },
      '/features/search': { feature_ids: [feature.id, flag.id], meter_ids: [meter.id] },
      '/groups/search': { group_ids: [group.id] },
      '/plans/search': { plan_ids: [plan.id], expand: 'prices,entitlements,credit_grants' },
      '/addons/search': { addon_ids: [addon.id] },
      '/prices/search': { price_ids: [price.id], expand: 'plan,meters' },
      '/prices/units/search': { price_unit_ids: [unit.id] },
      '/entitlements/search': { entity_ids: [plan.id], expand: 'features,plans' },
      '/creditgrants/search': { plan_ids: [plan.id] },
      '/coupons/search': { coupon_ids: [coupon.id], coupon_codes: ['ten'] },
      '/wallets/search': { wallet_ids: [wallet.id] },
      '/wallets/transactions/search': { id: wallet.id, expand: 'wallet,customer' },
      '/alerts/setting/search': { entity_ids: [subscription.id] },
      '/alerts/search': { entity_id: subscription.id },
      '/tasks/search': { task_type: 'IMPORT', entity_type: 'EVENTS' },
      '/taxes/rates/search': { taxrate_ids: [tax.id], taxrate_codes: ['vat'] },
      '/costs/search': { costsheet_ids: [costsheet.id], name: 'Infra' },
      '/invoices/late-usage/search': { invoice_ids: [invoice.id] },
      '/invoices/search': { invoice_ids: [invoice.id], subscription_id: subscription.id },
      '/payments/search': { payment_ids: [payment.id], destination_id: customer.id },
      '/creditnotes/search': { credit_note_ids: [note.id], invoice_id: invoice.id },
      '/refunds/search': { refund_ids: [refund.id], payment_id: payment.id },
      '/users/search': { user_ids: [account.id] },
      '/subscriptions/search': { subscription_ids: [subscription.id] },
      '/customers/search': { customer_ids: [customer.id], external_ids: ['acme'] },
    },
    tenantWide: [
      'GET /environments/{id}',
      'PUT /environments/{id}',
      'POST /environments/{id}/clone',
      'POST /environments/{id}/seed',
      'GET /environments/{id}/seed',
      'GET /tenants/{id}',
      'POST /users/search',
      'PUT /users/{id}',
      'PUT /users/{id}/roles',
      'POST /users/{id}/remove',
      'DELETE /users/{id}',
    ],
    withoutRecord: [
      // A person's own: keys are 403, and another person's is 404 (test/api/tenancy/access-audit.test.ts).
      'DELETE /users/me/sessions/{id}',
      'POST /secrets/integrations/create/{provider}',
      'GET /rbac/roles/{id}',
      'GET /settings/{key}',
      'PUT /settings/{key}',
      'DELETE /settings/{key}',
    ],
  };
}

/** A plan change in the earlier form. */
const earlierChange = (target_plan_id: string) => ({
  target_plan_id,
  proration_behavior: 'none',
  billing_cadence: 'RECURRING',
  billing_period: 'MONTHLY',
  billing_cycle: 'anniversary',
});
