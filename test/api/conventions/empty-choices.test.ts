import type { z } from 'zod';
import { API_ROUTES } from '../../../api/routes.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';
import { fixedPriceBody } from '../../support/price-body.ts';
import { invoiceDue } from '../../support/payments.ts';
import { schemasWithin } from '../../support/schemas.ts';

/**
 * The empty text in an optional id, choice or zone is unset, as null is: clients of the reference send their whole
 * record, with "" where nothing was chosen (api 37).
 */

let api: TestApi;
let catalog: TestCatalog;
beforeAll(async () => {
  api = await startTestApi();
  catalog = catalogOf(api);
});
afterAll(() => api.close());

const emptied = (names: string) => Object.fromEntries(names.split(/\s+/).map((name) => [name, '']));

test('POST /subscriptions: the defaults, as without the fields', async () => {
  const plan = await catalog.plan();
  const price = await catalog.fixed(plan, '30');
  const customer = await catalog.customer();
  const plain = await catalog.subscribe(customer, plan);
  const sent = await catalog.subscribe(customer, plan, {
    ...emptied(`external_customer_id billing_cycle customer_timezone timezone collection_method
      payment_behavior payment_terms proration_behavior line_item_grouping subscription_status
      commitment_duration parent_subscription_id lookup_key gateway_payment_method_id`),
    inheritance: emptied('invoicing_customer_external_id parent_subscription_id'),
  });
  const chosen = (made: any) => [
    made.billing_cycle, made.timezone, made.collection_method, made.payment_behavior,
    made.payment_terms, made.proration_behavior, made.subscription_status,
    made.subscription_type, made.parent_subscription_id, made.latest_invoice?.total,
  ]; // prettier-ignore
  expect(chosen(sent)).toEqual(chosen(plain));
  const line = await api.post(`/v1/subscriptions/${sent.id}/lineitems`, {
    ...emptied('proration_behavior commitment_duration'),
    price_id: price.id,
    quantity: '2',
  });
  expect([line.status, line.body.quantity]).toEqual([201, '2']);
  const none = await api.post(`/v1/subscriptions/${sent.id}/lineitems`, { price_id: '' });
  expect([none.status, none.body.code]).toEqual([400, 'validation_error']);
});

test('changes of a subscription', async () => {
  const coupon = await api.postOk('/v1/coupons', {
    ...{ name: 'C', type: 'percentage', percentage_off: '10', cadence: 'forever' },
    coupon_code: 'ten',
  });
  const plan = await catalog.plan();
  await catalog.fixed(plan, '30');
  const made = await catalog.subscribe(await catalog.customer(), plan);
  const post = (path: string, body: object) =>
    api.post(`/v1/subscriptions/${made.id}${path}`, body);
  const coupons = await post('/modify/execute', {
    type: 'coupon',
    coupon_params: {
      action: 'add',
      coupon_code: coupon.coupon_code,
      ...emptied('coupon_association_id subscription_line_item_id'),
    },
  });
  expect(coupons.status).toBe(200);
  const paused = await post('/pause', { pause_mode: '', pause_days: 5 });
  const resumed = await post('/resume', { resume_mode: '' });
  const cancelled = await post('/cancel', {
    cancellation_type: 'immediate',
    ...emptied('proration_behavior cancel_immediately_inovice_policy'),
  });
  expect([paused.status, resumed.status, cancelled.status]).toEqual([200, 200, 200]);
});

test('money: wallets, credit notes, refunds, payments', async () => {
  const customer = await catalog.customer();
  const wallet = { customer_id: customer.id, currency: 'usd' };
  expect(await api.postOk('/v1/wallets', { ...wallet, name: '' })).toMatchObject({
    name: 'Prepaid Wallet - USD',
  });
  const { invoice } = await invoiceDue(api, '100');
  const note = await api.post('/v1/creditnotes', {
    invoice_id: invoice.id,
    reason: 'BILLING_ERROR',
    line_items: [{ invoice_line_item_id: invoice.line_items[0].id, amount: '10' }],
    ...emptied('credit_note_type refund_target credit_note_number memo'),
  });
  expect([note.status, note.body.credit_note_type]).toEqual([201, 'ADJUSTMENT']);
  const payment = await api.postOk('/v1/payments', {
    ...{ amount: '100', currency: 'usd', destination_type: 'INVOICE', destination_id: invoice.id },
    payment_method_type: 'OFFLINE',
  });
  const back = emptied('target reason idempotency_key');
  const refund = await api.post('/v1/refunds', { payment_id: payment.id, amount: '1', ...back });
  expect(refund.status).toBe(201);
  const twice = { invoice_line_item_id: invoice.line_items[0].id, amount: '60' };
  const over = await api.post('/v1/creditnotes', {
    invoice_id: invoice.id,
    reason: 'BILLING_ERROR',
    line_items: [twice, twice],
  });
  expect([over.status, over.body.details[0].path]).toEqual([400, 'line_items[1].amount']);
});

type Fields = Record<string, z.ZodType & { isOptional(): boolean }>;

/** Whether the field takes one of some words, or the id of one record. */
function isChoice(field: z.ZodType): boolean {
  const forms = [...schemasWithin(field, '')].map(({ schema }) => schema._zod.def.type);
  return (
    forms.some((form) => form === 'enum' || form === 'literal') &&
    !forms.some((form) => form === 'object' || form === 'array' || form === 'record')
  );
}

test('every optional choice of every body', () => {
  const refused: string[] = [];
  for (const { method, path, body } of API_ROUTES)
    for (const at of body === undefined ? [] : schemasWithin(body, `${method} ${path}`)) {
      const { type, shape } = at.schema._zod.def as unknown as { type: string; shape: Fields };
      if (type !== 'object') continue;
      for (const [name, field] of Object.entries(shape))
        if (field.isOptional() && isChoice(field) && !field.safeParse('').success)
          refused.push(`${at.path}.${name}`);
    }
  expect(refused).toEqual([]);
});

test('a status, a schedule, a cadence, a destination of exports', async () => {
  const plan = await catalog.plan();
  const price = await catalog.fixed(plan, '30');
  const { id } = await catalog.subscribe(await catalog.customer(), plan);
  const unchanged = await api.put(`/v1/subscriptions/${id}`, { status: '' });
  expect([unchanged.status, unchanged.body.subscription_status]).toEqual([200, 'active']);
  await api.postOk(`/v1/subscriptions/${id}/cancel`, { cancellation_type: 'end_of_period' });
  const byType = { subscription_id: id, schedule_type: 'cancellation', schedule_id: '' };
  const withdrawn = await api.post('/v1/subscriptions/schedules/cancel', byType);
  expect([withdrawn.status, withdrawn.body.status]).toEqual([200, 'cancelled']);

  const unsaved = { ...fixedPriceBody(''), ...emptied('entity_type billing_cadence') };
  const rated = await api.post('/v1/prices/calculate', {
    price_id: '',
    price: { ...unsaved, amount: '3' },
    quantities: ['2'],
  });
  expect([rated.status, rated.body.items?.[0].total]).toEqual([200, '6']);
  const none = { ...fixedPriceBody(plan.id), ...emptied('entity_type') };
  expect((await api.post('/v1/prices', none)).status).toBe(400);
  const sort = [{ field: 'created_at', direction: '' }];
  const filters = [{ field: 'id', operator: '', data_type: '', value: { string: price.id } }];
  const found = await api.postOk('/v1/prices/search', { sort, filters });
  expect(found.items.map((item: { id: string }) => item.id)).toEqual([price.id]);

  const { invoice } = await invoiceDue(api, '100');
  const payment = await api.postOk('/v1/payments', {
    ...{ amount: '100', currency: 'usd', destination_type: 'INVOICE', destination_id: invoice.id },
    ...{ payment_method_type: 'OFFLINE', process_payment: false },
  });
  const changed = await api.put(`/v1/payments/${payment.id}`, {
    ...emptied('payment_status payment_gateway'),
    metadata: { a: 'b' },
  });
  expect([changed.status, changed.body.payment_status]).toEqual([200, 'PENDING']);

  const empty = emptied('bucket region key_prefix compression encryption endpoint_url');
  const connection = await api.postOk('/v1/connections', {
    ...{ name: 'Files', provider_type: 's3' },
    sync_config: {
      s3: { ...empty, endpoint_url: undefined, bucket: 'files', region: 'eu-west-1' },
    },
  });
  const task = await api.post('/v1/tasks/scheduled', {
    connection_id: connection.id,
    ...{ entity_type: 'events', interval: 'hourly', job_config: empty },
  });
  expect([task.status, task.body.job_config?.compression]).toEqual([201, 'none']);
});
