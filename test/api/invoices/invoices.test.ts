import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';
import { completeBackfills, createUsageOracle } from '../../support/usage-oracle.ts';

const oracle = createUsageOracle();
let api: TestApi;
let catalog: TestCatalog;
beforeAll(async () => {
  api = await startTestApi({ usageReader: oracle.reader });
  oracle.attach(api.pool);
  catalog = catalogOf(api);
});
afterAll(() => api.close());

const START = '2026-11-01T00:00:00.000Z';
const END = '2026-12-01T00:00:00.000Z';

/** A plan of 120 in advance, 60 in arrears, and calls at 0.02, subscribed from November on. */
async function subscribed(more: object = {}) {
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  await catalog.fixed(plan, '120', { display_name: 'Base' });
  await catalog.fixed(plan, '60', { display_name: 'Support', invoice_cadence: 'ARREAR' });
  await catalog.usage(plan, meter, { display_name: 'Calls' });
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, { start_date: START, ...more });
  return { plan, meter, customer, subscription };
}
const draftBody = (customer: { id: string }, subscription: { id: string }, more: object = {}) => ({
  invoice_type: 'SUBSCRIPTION',
  customer_id: customer.id,
  subscription_id: subscription.id,
  currency: 'usd',
  amount_due: '0',
  subtotal: '0',
  total: '0',
  period_start: START,
  period_end: END,
  billing_reason: 'SUBSCRIPTION_CYCLE',
  ...more,
});
const rows = (invoice: any) =>
  invoice.line_items.map((line: any) => [
    line.display_name,
    line.quantity,
    line.amount,
    line.period_start.slice(0, 10),
    line.period_end.slice(0, 10),
  ]);

describe('POST /invoices', () => {
  test('201: the draft of a period: arrears and usage of it, advances of the next', async () => {
    const { meter, customer, subscription } = await subscribed();
    await oracle.use(meter, customer, '2026-11-10T00:00:00.000Z', '70');
    await oracle.use(meter, customer, '2026-11-30T23:59:59.999Z', '5.5');
    await oracle.use(meter, customer, END, '1000');
    const { status, body } = await api.post('/v1/invoices', draftBody(customer, subscription));
    expect(status).toBe(201);
    expect(body).toMatchObject({
      invoice_status: 'DRAFT',
      invoice_number: null,
      billing_sequence: 2,
      billing_reason: 'SUBSCRIPTION_CYCLE',
      subtotal: '181.51',
      total: '181.51',
      amount_due: '181.51',
      due_date: '2026-12-02T00:00:00.000Z',
    });
    expect(rows(body)).toEqual([
      ['Base', '1', '120', '2026-12-01', '2027-01-01'],
      ['Support', '1', '60', '2026-11-01', '2026-12-01'],
      ['Calls', '75.5', '1.51', '2026-11-01', '2026-12-01'],
    ]);
    expect(body.usage_snapshot.meter_version_ids).toHaveLength(1);
    expect(body.usage_snapshot.watermarks).toEqual({ 0: expect.stringMatching(/^\d+$/) });
  });
});
