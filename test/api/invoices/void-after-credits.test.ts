import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';
import { payOffline } from '../../support/payments.ts';

/** What a void returns of an invoice of which a change has credited a part (money 9.12, 10.6). */
let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());

let counter = 0;

/** A paid invoice for April: two seats for 20.00 and `tax` percent; it is the 13th, 18 of 30 days are left. */
async function paidApril({ tax = '0', paid = null as string | null } = {}) {
  const { catalog, api } = world;
  api.clock.set(day('2026-04-01'));
  const code = `vat_void_${(counter += 1)}`;
  await api.postOk('/v1/taxes/rates', {
    ...{ name: 'VAT', code, tax_rate_type: 'percentage', percentage_value: tax },
  });
  const plan = await catalog.plan();
  const price = await catalog.fixed(plan, '10', { display_name: 'Seat' });
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: day('2026-04-01'),
    proration_behavior: 'create_prorations',
    override_line_items: [{ price_id: price.id, quantity: '2' }],
    tax_rate_overrides: [{ tax_rate_code: code, currency: 'usd', auto_apply: true }],
  });
  const search = { subscription_id: subscription.id, expand: 'line_items' };
  const [invoice] = (await api.postOk('/v1/invoices/search', search)).items;
  await payOffline(api, invoice, paid ?? invoice.total);
  api.clock.set(day('2026-04-13'));
  const path = `/v1/subscriptions/${subscription.id}`;
  return {
    invoice,
    cancel: () => api.postOk(`${path}/cancel`, { cancellation_type: 'immediate' }),
    seats: (quantity: string) =>
      api.postOk(`${path}/modify/execute`, {
        type: 'quantity_change',
        quantity_change_params: { line_items: [{ id: subscription.line_items[0].id, quantity }] },
      }),
    note: (amount: string) =>
      api.postOk('/v1/creditnotes', {
        ...{ invoice_id: invoice.id, reason: 'SERVICE_ISSUE', process_credit_note: true },
        line_items: [{ invoice_line_item_id: invoice.line_items[0].id, amount }],
      }),
    voided: (body: object = {}) => api.post(`/v1/invoices/${invoice.id}/void`, body),
    read: async () => (await api.get(`/v1/invoices/${invoice.id}`)).body,
    async returned() {
      const { body } = await api.get(`/v1/customers/${customer.id}/wallets`);
      return body.map(({ balance }: { balance: string }) => balance);
    },
  };
}
type April = Awaited<ReturnType<typeof paidApril>>;

test.each<[string, (of: April) => Promise<unknown>, string[]]>([
  ['nothing was credited: all of it', async () => {}, ['20']],
  ['a cancellation has credited 12.00: the other 8.00', (of) => of.cancel(), ['20']],
  // One seat less credits 12.00 and charges 6.00.
  ['one seat less has credited 6.00: the other 14.00', (of) => of.seats('1'), ['20']],
  ['a note of 5.00, then a cancellation', (of) => of.note('5').then(of.cancel), ['20']],
  ['more seats credit nothing', (of) => of.seats('3'), ['20']],
])('%s', async (_, change, expected) => {
  const of = await paidApril();
  await change(of);
  expect((await of.voided()).status).toBe(200);
  expect(await of.returned()).toEqual(expected);
});

test('the tax that the change returned is not returned again', async () => {
  const of = await paidApril({ tax: '20' });
  await of.cancel();
  expect(await of.returned()).toEqual(['14.4']);
  await of.voided();
  expect(await of.returned()).toEqual(['24']);
});

test('of a fee that was paid in part: nothing beyond what was paid', async () => {
  const of = await paidApril({ paid: '15' });
  await of.cancel();
  await of.voided();
  expect(await of.returned()).toEqual(['15']);
});

test('an amount may be all that was paid, for whoever bills it again; the rest can be refunded later', async () => {
  const of = await paidApril();
  await of.cancel();
  expect((await of.voided({ amount: '20.01' })).status).toBe(400);
  expect((await of.voided({ amount: '20' })).status).toBe(200);
  expect(await of.returned()).toEqual(['32']);
  const other = await paidApril();
  await other.cancel();
  await other.voided();
  expect(await other.read()).toMatchObject({
    ...{ invoice_status: 'VOIDED', payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '8' },
  });
});

test('money beyond the total returns as well', async () => {
  const of = await paidApril({ paid: '30' });
  await of.cancel();
  await of.voided();
  expect(await of.returned()).toEqual(['30']);
});
