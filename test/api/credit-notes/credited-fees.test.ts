import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';
import { payOffline } from '../../support/payments.ts';

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());

let counter = 0;

/** An invoice for April, with a fee of 20.00, and `tax` percent of exclusive tax; it is paid unless `isOpen`. */
async function feeOfApril({ tax = '0', quantity = '1', amount = '20', isOpen = false } = {}) {
  const { catalog, api } = world;
  api.clock.set(day('2026-04-01'));
  const code = `vat_credited_${(counter += 1)}`;
  await api.postOk('/v1/taxes/rates', {
    ...{ name: 'VAT', code, tax_rate_type: 'percentage', percentage_value: tax },
  });
  const plan = await catalog.plan();
  const price = await catalog.fixed(plan, amount, { display_name: 'Base' });
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: day('2026-04-01'),
    tax_rate_overrides: [{ tax_rate_code: code, currency: 'usd', auto_apply: true }],
    ...(quantity === '1' ? {} : { override_line_items: [{ price_id: price.id, quantity }] }),
  });
  const search = { subscription_id: subscription.id, expand: 'line_items' };
  const [invoice] = (await api.postOk('/v1/invoices/search', search)).items;
  if (!isOpen) await payOffline(api, invoice, invoice.total);
  // Of 30 days, 18 are left.
  api.clock.set(day('2026-04-13'));
  return { customer, subscription, invoice };
}
type Fee = Awaited<ReturnType<typeof feeOfApril>>;

const cancel = ({ subscription }: Fee) =>
  world.api.postOk(`/v1/subscriptions/${subscription.id}/cancel`, {
    ...{ cancellation_type: 'immediate', proration_behavior: 'create_prorations' },
  });

function note({ invoice }: Fee, lines: readonly (readonly ['fee' | 'tax', string])[], more = {}) {
  return world.api.post('/v1/creditnotes', {
    ...{ invoice_id: invoice.id, reason: 'SERVICE_ISSUE', process_credit_note: true, ...more },
    line_items: lines.map(([row, amount]) => ({
      invoice_line_item_id: row === 'tax' ? 'tax' : invoice.line_items[0].id,
      amount,
    })),
  });
}

/** Currency in the wallets of the customer. */
async function returned({ customer }: Fee): Promise<number> {
  const wallets = (await world.api.get(`/v1/customers/${customer.id}/wallets`)).body;
  return wallets.reduce((sum: number, { balance }: any) => sum + Number(balance), 0);
}

const refusal = (left: string, amount: string) => ({
  status: 400,
  body: { details: [{ message: `${amount} exceeds the ${left} that can be credited.` }] },
});

describe('a note on a fee of which a change has credited a part (money 10.6)', () => {
  test('cancelled, 12.00 credited: a note returns the other 8.00 and no more', async () => {
    const fee = await feeOfApril();
    expect((await cancel(fee)).total_credit_amount).toBe('12');
    expect(await note(fee, [['fee', '20']])).toMatchObject(refusal('8', '20'));
    expect(await note(fee, [['fee', '8.01']])).toMatchObject(refusal('8', '8.01'));
    expect(await note(fee, [['fee', '4'], ['fee', '4.01']])).toMatchObject(refusal('4', '4.01')); // prettier-ignore
    expect((await note(fee, [['fee', '3']])).status).toBe(201);
    expect((await note(fee, [['fee', '5']])).status).toBe(201);
    expect(await note(fee, [['fee', '0.01']])).toMatchObject(refusal('0', '0.01'));
    expect(await returned(fee)).toBe(20);
  });

  test('a draft from before the cancellation is checked again when it is finalized', async () => {
    const fee = await feeOfApril();
    const draft = await note(fee, [['fee', '20']], { process_credit_note: false });
    await cancel(fee);
    const { id } = draft.body;
    expect(await world.api.post(`/v1/creditnotes/${id}/finalize`)).toMatchObject(
      refusal('8', '20'),
    );
    expect(await returned(fee)).toBe(12);
  });

  test('an adjustment of an unpaid fee is limited as well', async () => {
    const fee = await feeOfApril({ isOpen: true });
    await cancel(fee);
    expect(await note(fee, [['fee', '20']])).toMatchObject(refusal('8', '20'));
    expect((await note(fee, [['fee', '8']])).status).toBe(201);
    expect((await world.api.get(`/v1/invoices/${fee.invoice.id}`)).body.amount_due).toBe('12');
  });

  test('the tax that the cancellation returned is not returned again', async () => {
    // 0.01 of tax: the halves of it are rounded up to 0.01 each.
    const fee = await feeOfApril({ amount: '0.3', tax: '3' });
    expect(fee.invoice.total).toBe('0.31');
    world.api.clock.set(day('2026-04-16'));
    expect((await cancel(fee)).total_credit_amount).toBe('0.16');
    expect((await note(fee, [['fee', '0.15'], ['tax', '0.01']])).status).toBe(400); // prettier-ignore
    expect((await note(fee, [['fee', '0.15']])).status).toBe(201);
    expect(await returned(fee)).toBe(0.31);
  });

  test('the tax on the rest is returned with the rest', async () => {
    const fee = await feeOfApril({ tax: '20' });
    expect((await cancel(fee)).total_credit_amount).toBe('14.4');
    expect(await note(fee, [['fee', '8'], ['tax', '1.61']])).toMatchObject(refusal('1.6', '1.61')); // prettier-ignore
    expect((await note(fee, [['fee', '8'], ['tax', '1.6']])).status).toBe(201); // prettier-ignore
    expect(await returned(fee)).toBe(24);
  });

  /** Changes the number of seats of 10.00. */
  const seats = ({ subscription }: Fee, quantity: string) =>
    world.api.postOk(`/v1/subscriptions/${subscription.id}/modify/execute`, {
      type: 'quantity_change',
      quantity_change_params: {
        line_items: [{ id: subscription.line_items[0].id, quantity }],
      },
    });

  test('fewer seats: a note returns what the change left, and a later cancellation nothing', async () => {
    const fee = await feeOfApril({ amount: '10', quantity: '2' });
    await seats(fee, '1');
    expect(await returned(fee)).toBe(6);
    expect(await note(fee, [['fee', '20']])).toMatchObject(refusal('14', '20'));
    expect((await note(fee, [['fee', '14']])).status).toBe(201);
    expect((await cancel(fee)).total_credit_amount).toBe('0');
    expect(await returned(fee)).toBe(20);
  });

  test('fewer seats, a note, a cancellation: at most the fee and its tax', async () => {
    const fee = await feeOfApril({ amount: '10', quantity: '2', tax: '20' });
    await seats(fee, '1');
    expect(await returned(fee)).toBe(7.2);
    expect((await note(fee, [['fee', '11'], ['tax', '2.2']])).status).toBe(201); // prettier-ignore
    expect((await cancel(fee)).total_credit_amount).toBe('3.6');
    expect(await returned(fee)).toBe(24);
  });

  test('more seats: both invoices may be noted wholly, after which a cancellation credits nothing', async () => {
    const fee = await feeOfApril({ amount: '10', quantity: '2' });
    const { changed_resources } = await seats(fee, '3');
    const more = await world.api.get(`/v1/invoices/${changed_resources.invoices[0].id}`);
    expect(more.body.total).toBe('6');
    await payOffline(world.api, more.body, '6');
    expect((await note(fee, [['fee', '20']])).status).toBe(201);
    expect((await note({ ...fee, invoice: more.body }, [['fee', '6']])).status).toBe(201);
    expect((await cancel(fee)).total_credit_amount).toBe('0');
    expect(await returned(fee)).toBe(26);
  });

  test('a cheaper plan: what the change left', async () => {
    const fee = await feeOfApril();
    const { catalog, api } = world;
    const cheap = await catalog.plan();
    await catalog.fixed(cheap, '5');
    await api.postOk(`/v1/subscriptions/${fee.subscription.id}/change/execute`, {
      ...{ target_plan_id: cheap.id, proration_behavior: 'create_prorations' },
      ...{ billing_cadence: 'RECURRING', billing_period: 'MONTHLY', billing_cycle: 'anniversary' },
    });
    const credited = await returned(fee);
    const left = String(20 - credited);
    expect([credited > 0, credited < 20]).toEqual([true, true]);
    expect(await note(fee, [['fee', '20']])).toMatchObject(refusal(left, '20'));
    expect((await note(fee, [['fee', left]])).status).toBe(201);
    expect(await returned(fee)).toBe(20);
  });
});
