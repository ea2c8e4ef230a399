import { billingWorldFrom } from '../../support/billing-world.ts';

const world = billingWorldFrom('2026-03-10T00:00:00.000Z');
beforeEach(async () => {
  await world.api
    .pool`update tax_associations set status = 'archived' where entity_type = 'tenant'`;
});

const MARCH = '2026-03-01T00:00:00.000Z';
const APRIL = '2026-04-01T00:00:00.000Z';
const AFTER_GRACE = '2026-04-02T00:00:00.000Z';

let counter = 0;
async function rate(percentage_value: string): Promise<string> {
  const code = `rate_${(counter += 1)}`;
  const body = { name: code, code, tax_rate_type: 'percentage', percentage_value };
  expect((await world.api.post('/v1/taxes/rates', body)).status).toBe(201);
  return code;
}
async function taxed(entity: object, percentage: string, more: object = {}): Promise<string> {
  const tax_rate_code = await rate(percentage);
  const body = { tax_rate_code, auto_apply: true, start_date: MARCH, ...entity, ...more };
  const made = await world.api.post('/v1/taxes/associations', body);
  expect(made.status).toBeLessThan(300);
  return made.body.id;
}
async function customerWithPlan(amount = '100', more: object = {}) {
  const plan = await world.catalog.plan();
  await world.catalog.fixed(plan, amount);
  return { plan, customer: await world.catalog.customer(more) };
}
const subscribe = (made: Awaited<ReturnType<typeof customerWithPlan>>, more: object = {}) =>
  world.catalog.subscribe(made.customer, made.plan, { start_date: MARCH, ...more });
const figures = (invoice: any) => ({
  subtotal: invoice.subtotal,
  total_tax: invoice.total_tax,
  total: invoice.total,
  amount_due: invoice.amount_due,
  taxes: invoice.taxes.map((tax: any) => tax.tax_amount),
});
async function invoiceOf(subscription: { id: string }, reason: string): Promise<any> {
  const { body } = await world.api.post('/v1/invoices/search', {
    subscription_id: subscription.id,
    billing_reason: reason,
  });
  return body.items[0];
}
const opening = (subscription: { id: string }) => invoiceOf(subscription, 'SUBSCRIPTION_CREATE');
const cycle = (subscription: { id: string }) => invoiceOf(subscription, 'SUBSCRIPTION_CYCLE');

test("a customer's tax is charged on the opening invoice, and is on it as a row", async () => {
  const made = await customerWithPlan('99.99');
  await taxed({ entity_type: 'customer', entity_id: made.customer.id }, '2.5');
  await taxed({ entity_type: 'customer', entity_id: made.customer.id }, '18', { priority: 5 });
  const invoice = await opening(await subscribe(made));
  expect(invoice).toMatchObject({
    invoice_status: 'FINALIZED',
    ...{ subtotal: '99.99', total_tax: '20.5', total: '120.49', amount_due: '120.49' },
    tax_summary: { exclusive_tax: '20.5', inclusive_tax: '0', total_tax: '20.5', exemption: null },
    taxes: [
      {
        id: expect.stringMatching(/^taxapp_/),
        entity_type: 'invoice',
        entity_id: invoice.id,
        tax_association_id: expect.stringMatching(/^ta_/),
        percentage_value: '18',
        tax_behavior: 'exclusive',
        taxable_amount: '99.99',
        tax_amount: '18',
        currency: 'usd',
        tax_rate: null,
      },
      { percentage_value: '2.5', tax_amount: '2.5' },
    ],
  });
  const path = `/v1/invoices/${invoice.id}?expand=tax_applied.tax_rate`;
  const { taxes } = (await world.api.get(path)).body;
  expect(taxes.map((tax: any) => tax.tax_rate.percentage_value)).toEqual(['18', '2.5']);
});

test('the most specific level decides alone: subscription, then customer, then tenant', async () => {
  await taxed({ entity_type: 'tenant' }, '1');
  const made = await customerWithPlan();
  expect(figures(await opening(await subscribe(made)))).toMatchObject({ taxes: ['1'] });
  await taxed({ entity_type: 'customer', entity_id: made.customer.id }, '10');
  expect(figures(await opening(await subscribe(made)))).toMatchObject({ taxes: ['10'] });
  const overridden = await subscribe(made, {
    tax_rate_overrides: [{ tax_rate_code: await rate('20'), currency: 'usd', auto_apply: true }],
  });
  expect(figures(await opening(overridden))).toMatchObject({ total: '120', taxes: ['20'] });
  const stranger = await customerWithPlan();
  expect(figures(await opening(await subscribe(stranger)))).toMatchObject({ taxes: ['1'] });
});

test.each([
  ['not applied by itself', { auto_apply: false }],
  ['in another currency', { currency: 'eur' }],
  ['over before the period', { start_date: '2026-01-01T00:00:00Z', end_date: MARCH }],
])('an association that is %s does not tax', async (_what, more) => {
  const made = await customerWithPlan();
  await taxed({ entity_type: 'customer', entity_id: made.customer.id }, '10', more);
  const invoice = await opening(await subscribe(made));
  expect(figures(invoice)).toMatchObject({ total: '100', taxes: [] });
  expect(invoice.tax_summary.exemption.reason_code).toBe('no_tax_configured');
});

test.each([
  ['absent', {}],
  ['false', { auto_apply: false }],
])('an override whose auto_apply is %s is an association without tax', async (_what, more) => {
  const override = { tax_rate_code: await rate('20'), currency: 'usd', ...more };
  const subscription = await subscribe(await customerWithPlan(), {
    tax_rate_overrides: [override],
  });
  expect(figures(await opening(subscription))).toMatchObject({ total: '100', taxes: [] });
  const query = `entity_type=subscription&entity_id=${subscription.id}`;
  const { body } = await world.api.get(`/v1/taxes/associations?${query}`);
  expect(body.items).toMatchObject([{ auto_apply: false, currency: 'usd' }]);
});

test('a customer who is exempt is not taxed, and overrides at creation are skipped', async () => {
  const made = await customerWithPlan('100', { tax_treatment: 'exempt' });
  await taxed({ entity_type: 'customer', entity_id: made.customer.id }, '10');
  const subscription = await subscribe(made, {
    tax_rate_overrides: [{ tax_rate_code: await rate('20'), currency: 'usd', auto_apply: true }],
  });
  const invoice = await opening(subscription);
  expect(figures(invoice)).toMatchObject({ total: '100', taxes: [] });
  expect(invoice.tax_summary.exemption.reason_code).toBe('customer_exempt');
});

test('tax that is included in the price is carved out of it', async () => {
  const made = await customerWithPlan('121');
  const inclusive = { tax_behavior: 'inclusive' };
  await taxed({ entity_type: 'customer', entity_id: made.customer.id }, '21', inclusive);
  const invoice = await opening(await subscribe(made));
  expect(figures(invoice)).toEqual({
    ...{ subtotal: '121', total_tax: '21', total: '121', amount_due: '121', taxes: ['21'] },
  });
  expect(invoice.taxes[0].taxable_amount).toBe('100');
});

test('an override whose tax is included is carved out of the opening invoice and of the cycle', async () => {
  const override = { tax_rate_code: await rate('21'), currency: 'usd', auto_apply: true };
  const included = { tax_rate_overrides: [{ ...override, tax_behavior: 'inclusive' }] };
  const onSubscription = await subscribe(await customerWithPlan('121'), included);
  const onCustomer = await subscribe(await customerWithPlan('121', included));
  const expected = { total: '121', total_tax: '21', taxes: ['21'] };
  for (const subscription of [onSubscription, onCustomer])
    expect(figures(await opening(subscription))).toMatchObject(expected);
  world.api.clock.set(APRIL);
  await world.close();
  for (const subscription of [onSubscription, onCustomer])
    expect(figures(await cycle(subscription))).toMatchObject(expected);
});

test('drafts and previews are taxed; a tax that is removed is taken off the draft, and none is added to a closed period', async () => {
  const { api } = world;
  const made = await customerWithPlan();
  const association = await taxed({ entity_type: 'customer', entity_id: made.customer.id }, '10');
  const subscription = await subscribe(made);
  const asked = { subscription_id: subscription.id };
  const preview = await api.post('/v1/invoices/preview', asked);
  expect(figures(preview.body)).toMatchObject({ total: '110', taxes: ['10'] });

  api.clock.set(APRIL);
  await world.close();
  const draft = await cycle(subscription);
  expect(figures(draft)).toMatchObject({ total: '110', taxes: ['10'] });
  const explained = await api.get(
    `/v1/invoices/${draft.id}/lines/${draft.line_items[0].id}/explanation`,
  );
  expect(JSON.stringify(explained.body)).toMatch(/tax/);

  const computed = await api.post(`/v1/invoices/${draft.id}/compute`, {});
  expect(computed.body.invoice.taxes[0].id).toBe(draft.taxes[0].id);
  await api.call('DELETE', `/v1/taxes/associations/${association}`);
  expect(figures((await api.post(`/v1/invoices/${draft.id}/compute`, {})).body.invoice)).toEqual({
    ...{ subtotal: '100', total_tax: '0', total: '100', amount_due: '100', taxes: [] },
  });

  // The period is closed: a rate that comes later is of later periods.
  await taxed({ entity_type: 'customer', entity_id: made.customer.id }, '7');
  api.clock.set(AFTER_GRACE);
  expect(await world.finalize()).toMatchObject({ finalized: 1 });
  expect(figures(await cycle(subscription))).toMatchObject({ total: '100', taxes: [] });
});

test('taxes and discounts of a closed period stay; /recalculate takes the present ones', async () => {
  const { api } = world;
  const made = await customerWithPlan();
  await taxed({ entity_type: 'customer', entity_id: made.customer.id }, '10');
  const { body: coupon } = await api.post('/v1/coupons', {
    ...{ name: 'Off', type: 'percentage', percentage_off: '20', cadence: 'forever' },
  });
  const subscription = await subscribe(made, { coupons: [coupon.id] });
  api.clock.set(APRIL);
  await world.close();
  const draft = await cycle(subscription);
  const closed = { subtotal: '100', total_tax: '8', total: '88', amount_due: '88', taxes: ['8'] };
  expect(figures(draft)).toEqual(closed);

  const stored = await api.post('/v1/taxes/associations/search', {
    entity_id: made.customer.id,
  });
  const rateId = stored.body.items[0].tax_rate_id;
  await api.put(`/v1/taxes/rates/${rateId}`, { tax_rate_status: 'INACTIVE' });
  await taxed({ entity_type: 'subscription', entity_id: subscription.id }, '30');
  await api.put(`/v1/customers/${made.customer.id}`, { tax_treatment: 'exempt' });
  await api.call('DELETE', `/v1/coupons/${coupon.id}`);
  const recomputed = await api.post(`/v1/invoices/${draft.id}/compute`, {});
  expect(figures(recomputed.body.invoice)).toEqual(closed);
  const edited = await api.put(`/v1/invoices/${draft.id}`, { apply_discount: true });
  expect(figures(edited.body)).toEqual(closed);
  api.clock.set(AFTER_GRACE);
  expect(await world.finalize()).toMatchObject({ finalized: 1 });
  expect(figures(await cycle(subscription))).toEqual(closed);

  const again = await api.post(`/v1/invoices/${draft.id}/recalculate`, {});
  expect(figures(again.body)).toMatchObject({ total: '80', taxes: [] });
});

test('an override in a currency that the invoices are not in is refused: it would tax nothing', async () => {
  const made = await customerWithPlan();
  const named = { tax_rate_code: await rate('20'), auto_apply: true };
  const { status, body } = await world.api.post('/v1/subscriptions', {
    ...{ customer_id: made.customer.id, plan_id: made.plan.id, currency: 'usd' },
    ...{ billing_period: 'MONTHLY', start_date: MARCH },
    tax_rate_overrides: [
      { ...named, currency: 'USD' },
      { ...named, currency: 'eur' },
    ],
  });
  expect([status, body.details[0].path]).toEqual([400, 'tax_rate_overrides[1].currency']);
});

test('an unknown code in tax_rate_overrides is refused by its index, and nothing is made', async () => {
  const made = await customerWithPlan();
  const answer = await world.api.post('/v1/subscriptions', {
    ...{ customer_id: made.customer.id, plan_id: made.plan.id, currency: 'usd' },
    ...{ billing_period: 'MONTHLY', start_date: MARCH },
    tax_rate_overrides: [{ tax_rate_code: 'nowhere', currency: 'usd' }],
  });
  expect(answer.status).toBe(404);
  const { body } = await world.api.post('/v1/subscriptions/search', {
    customer_id: made.customer.id,
  });
  expect(body.items).toEqual([]);
});
