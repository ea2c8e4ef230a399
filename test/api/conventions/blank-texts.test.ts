import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';
import { fixedPriceBody } from '../../support/price-body.ts';

/** A text of only spaces is like the empty text: unset, or 400 where a text is required (api 37). */

let api: TestApi;
let catalog: TestCatalog;
beforeAll(async () => {
  api = await startTestApi();
  catalog = catalogOf(api);
});
afterAll(() => api.close());

const BLANK = '  ';
const METER = { name: 'M', event_name: 'm', reset_usage: 'NEVER' };

test('the keys, names and texts of the catalog', async () => {
  const feature = await api.postOk('/v1/features', {
    name: 'Seats',
    type: 'boolean',
    description: BLANK,
    lookup_key: BLANK,
    unit_singular: BLANK,
    unit_plural: BLANK,
  });
  const unset = { description: '', unit_singular: '', unit_plural: '' };
  expect(feature).toMatchObject({ ...unset, lookup_key: 'seats' });
  const units = { unit_singular: ' seat', unit_plural: 'seats ' };
  const named = await api.put(`/v1/features/${feature.id}`, units);
  expect(named.body).toMatchObject({ unit_singular: 'seat', unit_plural: 'seats' });
  const cleared = await api.put(`/v1/features/${feature.id}`, {
    unit_singular: BLANK,
    unit_plural: BLANK,
  });
  expect(cleared.body).toMatchObject(unset);

  const plan = await catalog.plan('Pro');
  const price = await api.postOk(
    '/v1/prices',
    fixedPriceBody(plan.id, { lookup_key: BLANK, display_name: BLANK, description: BLANK }),
  );
  expect(price).toMatchObject({ lookup_key: '', display_name: 'Pro', description: '' });
  const coupon = { name: 'C', type: 'percentage', percentage_off: '5', cadence: 'once' };
  expect(await api.postOk('/v1/coupons', { ...coupon, coupon_code: BLANK })).toMatchObject({
    coupon_code: null,
  });
  const { costsheet } = await api.postOk('/v1/costs', { name: 'S', lookup_key: BLANK });
  expect(costsheet.lookup_key).toBe('');
  const sold = await catalog.subscribe(await catalog.customer(), plan, { lookup_key: BLANK });
  expect(sold.lookup_key).toBeNull();
});

test('the property of a meter: its name as events have it, with its spaces', async () => {
  const meter = (aggregation: object) => api.post('/v1/meters', { ...METER, aggregation });
  const none = await meter({ type: 'SUM', field: BLANK });
  expect([none.status, none.body.details?.[0].path]).toEqual([400, 'aggregation.field']);
  const count = await meter({ type: 'COUNT', field: BLANK, expression: BLANK, group_by: BLANK });
  expect(count.body.aggregation).toMatchObject({ field: null, expression: null, group_by: null });
  expect((await meter({ type: 'SUM', field: ' v ' })).body.aggregation.field).toBe(' v ');
});

test('contacts and addresses of a customer, rows of an invoice', async () => {
  const customer = await catalog.customer({
    address_city: BLANK,
    contact: BLANK,
    contact_persons: [{ first_name: 'Ada', department: BLANK }],
  });
  expect(customer).toMatchObject({
    address_city: '',
    contact_persons: [{ first_name: 'Ada', department: expect.not.stringMatching(/\s/) }],
  });
  const invoice = await api.postOk('/v1/invoices', {
    customer_id: customer.id,
    currency: 'usd',
    invoice_type: 'ONE_OFF',
    description: BLANK,
    line_items: [{ display_name: BLANK, amount: '5', quantity: '1' }],
  });
  const unnamed = await api.postOk('/v1/invoices', {
    customer_id: customer.id,
    currency: 'usd',
    invoice_type: 'ONE_OFF',
    line_items: [{ amount: '5', quantity: '1' }],
  });
  expect(invoice.description).toBe(unnamed.description);
  expect(invoice.line_items[0].display_name).toBe(unnamed.line_items[0].display_name);
});
