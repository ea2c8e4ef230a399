import { completeBackfills } from '../../support/usage-oracle.ts';
import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';

/**
 * Prepaid credits pay usage rows when an invoice is issued, and return to their blocks when it is voided
 * (billing 9.2, money 2.6, 9.11).
 */
let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());

const START = '2026-11-01T00:00:00.000Z';
const END = '2026-12-01T00:00:00.000Z';
const get = async (path: string) => (await world.api.get(`/v1${path}`)).body;

/** A customer whose plan has 20 in arrears and calls at 1 each; `used` calls in November. */
async function customerUsing(used: string) {
  world.api.clock.set('2026-11-21T12:00:00.000Z');
  const { catalog, usage } = world;
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  await catalog.fixed(plan, '20', { display_name: 'Fee', invoice_cadence: 'ARREAR' });
  await catalog.usage(plan, meter, { display_name: 'Calls', amount: '1' });
  const customer = await catalog.customer();
  await catalog.subscribe(customer, plan, { start_date: START });
  await usage.use(meter, customer, '2026-11-10T00:00:00.000Z', used);
  return { ...customer, plan, meter };
}
const walletOf = (customer: { id: string }, more: object = {}) =>
  world.api.postOk('/v1/wallets', { customer_id: customer.id, currency: 'usd', ...more });
const topUp = (wallet: { id: string }, credits: string, more: object = {}) =>
  world.api.postOk(`/v1/wallets/${wallet.id}/top-up`, {
    credits_to_add: credits,
    transaction_reason: 'FREE_CREDIT_GRANT',
    ...more,
  });
/** Closes November and issues its invoice. */
async function issued(customer: { id: string }) {
  world.api.clock.set('2026-12-02T00:00:00.000Z');
  await world.close();
  await world.finalize();
  world.api.clock.set('2026-12-04T00:00:00.000Z');
  await world.finalize();
  const { items } = await world.api.postOk('/v1/invoices/search', { customer_id: customer.id });
  const invoice = items.find((item: any) => item.period_end === END);
  return await get(`/invoices/${invoice.id}`);
}
const rowsOf = async (wallet: { id: string }, more: object = {}) =>
  (await world.api.postOk('/v1/wallets/transactions/search', { id: wallet.id, ...more })).items;
const paidBy = (invoice: any) =>
  invoice.line_items.map((line: any) => [line.display_name, line.prepaid_credits_applied]);

test('usage rows only; the debit names the invoice and its blocks', async () => {
  const customer = await customerUsing('100');
  const wallet = await walletOf(customer);
  const first = await topUp(wallet, '60', { priority: 1 });
  await topUp(wallet, '10');
  const invoice = await issued(customer);
  expect(invoice).toMatchObject({
    invoice_status: 'FINALIZED',
    payment_status: 'PENDING',
    subtotal: '120',
    total_prepaid_credits_applied: '70',
    total: '50',
    amount_remaining: '50',
  });
  expect(Object.fromEntries(paidBy(invoice))).toEqual({ Fee: '0', Calls: '70' });
  const [debit] = await rowsOf(wallet, { type: 'debit' });
  expect(debit).toMatchObject({
    transaction_reason: 'CREDIT_ADJUSTMENT',
    amount: '70',
    reference_type: 'INVOICE',
    reference_id: invoice.id,
    source_type: 'INVOICE',
    metadata: { invoice_id: invoice.id, wallet_type: 'PRE_PAID' },
  });
  expect(debit.consumption_breakdown[0]).toEqual({
    credit_transaction_id: first.wallet_transaction.id,
    credits: '60',
  });
  expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ balance: '0' });
});

test('a preview shows the credits that would pay the invoice, and takes none', async () => {
  const customer = await customerUsing('100');
  const wallet = await walletOf(customer);
  await topUp(wallet, '70');
  const { items } = await world.api.postOk('/v1/subscriptions/search', {
    customer_id: customer.id,
  });
  await completeBackfills(world.api.pool);
  const preview = await world.api.postOk('/v1/invoices/preview', { subscription_id: items[0].id });
  const projected = { subtotal: '120', total_prepaid_credits_applied: '70', total: '50' };
  expect(preview).toMatchObject(projected);
  expect(Object.fromEntries(paidBy(preview))).toEqual({ Fee: '0', Calls: '70' });
  expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ balance: '70' });
  expect(await issued(customer)).toMatchObject(projected);
});

test('a change costs what its preview says, less the credits; with a checkout it uses none', async () => {
  world.api.clock.set('2026-11-16T00:00:00.000Z');
  const { catalog } = world;
  const plan = await catalog.plan();
  const advance = { display_name: 'Seats', invoice_cadence: 'ADVANCE' };
  await catalog.fixed(plan, '20', advance);
  const customer = await catalog.customer();
  await catalog.subscribe(customer, plan, { start_date: START });
  const wallet = await walletOf(customer, {
    config: { allowed_price_types: ['FIXED'] },
  });
  await topUp(wallet, '4');
  const { items } = await world.api.postOk('/v1/subscriptions/search', {
    customer_id: customer.id,
  });
  const { id, line_items } = await get(`/subscriptions/${items[0].id}`);
  const body = {
    type: 'quantity_change',
    quantity_change_params: { line_items: [{ id: line_items[0].id, quantity: '2' }] },
  };
  const settledBy = ({ changed_resources: { invoices } }: any) =>
    invoices.map(({ amount, invoice }: any) => [
      amount,
      invoice.subtotal,
      invoice.total_prepaid_credits_applied,
    ]);
  const path = `/subscriptions/${id}/modify`;
  expect(settledBy(await world.api.postOk(`/v1${path}/preview`, body))).toEqual([['6', '10', '4']]);
  const checkout = { payment_provider: 'test', success_url: 'https://example.com/paid' };
  expect(settledBy(await world.api.postOk(`/v1${path}/preview`, { ...body, checkout }))).toEqual([
    ['10', '10', '0'],
  ]);
  expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ balance: '4' });
  expect(settledBy(await world.api.postOk(`/v1${path}/execute`, body))).toEqual([['6', '10', '4']]);
});

test('a rate: credits are cut to the minor unit, and the rest stays', async () => {
  const customer = await customerUsing('50');
  const wallet = await walletOf(customer, { conversion_rate: '0.0299' });
  await topUp(wallet, '1000.5');
  const invoice = await issued(customer);
  expect(invoice.total_prepaid_credits_applied).toBe('29.91');
  const { balance } = await get(`/wallets/${wallet.id}`);
  expect(Number(balance)).toBeGreaterThan(0);
  expect(Number(balance)).toBeLessThan(0.01);
});

test('wholly covered: nothing to pay', async () => {
  const customer = await customerUsing('5');
  const wallet = await walletOf(customer, { config: { allowed_price_types: [] } });
  await topUp(wallet, '100');
  const invoice = await issued(customer);
  expect(invoice).toMatchObject({ total: '0', payment_status: 'SUCCEEDED', amount_remaining: '0' });
  expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ balance: '75' });
});

test('a second invoice of the page has what the first one left', async () => {
  const customer = await customerUsing('40');
  const { plan, meter } = await customerUsing('0');
  await world.catalog.subscribe(customer, plan, { start_date: START });
  await world.usage.use(meter, customer, '2026-11-11T00:00:00.000Z', '40');
  const wallet = await walletOf(customer);
  await topUp(wallet, '50');
  await issued(customer);
  const { items } = await world.api.postOk('/v1/invoices/search', { customer_id: customer.id });
  const applied = items.map((item: any) => Number(item.total_prepaid_credits_applied));
  expect(applied.sort((one: number, other: number) => one - other)).toEqual([10, 40]);
  expect(await rowsOf(wallet, { type: 'debit' })).toHaveLength(2);
  expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ balance: '0' });
});

test('a block is held for usage of a period that ended before its expiry', async () => {
  const customer = await customerUsing('10');
  const wallet = await walletOf(customer);
  await topUp(wallet, '4', { expiry_date_utc: '2026-12-01T06:00:00Z' });
  await topUp(wallet, '3', { expiry_date_utc: '2026-11-30T06:00:00Z' });
  const invoice = await issued(customer);
  expect(invoice.total_prepaid_credits_applied).toBe('4');
});

describe('voiding returns the credits', () => {
  test('to the same blocks, with their priority and expiry', async () => {
    const customer = await customerUsing('100');
    const wallet = await walletOf(customer);
    const expiry_date_utc = '2099-01-01T00:00:00.000Z';
    const block = await topUp(wallet, '60', { priority: 1, expiry_date_utc });
    await topUp(wallet, '10');
    const invoice = await issued(customer);
    await world.api.postOk(`/v1/invoices/${invoice.id}/void`);
    expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ balance: '70' });
    const blocks = await rowsOf(wallet, { credits_available_gt: '0' });
    expect(blocks.map((row: any) => row.credits_available).sort()).toEqual(['10', '60']);
    const returned = await rowsOf(wallet, { transaction_reason: 'INVOICE_VOID_REFUND' });
    expect(returned).toHaveLength(2);
    expect(returned.map((row: any) => row.parent_transaction_id)).toContain(
      block.wallet_transaction.id,
    );
  });

  test('what has expired by then lives 30 days', async () => {
    const customer = await customerUsing('100');
    const wallet = await walletOf(customer);
    await topUp(wallet, '60', { expiry_date_utc: '2026-12-01T06:00:00Z' });
    const invoice = await issued(customer);
    await world.api.postOk(`/v1/invoices/${invoice.id}/void`);
    const [block] = await rowsOf(wallet, { credits_available_gt: '0' });
    expect(block).toMatchObject({
      transaction_reason: 'INVOICE_VOID_REFUND',
      credits_available: '60',
      expiry_date: '2027-01-03T00:00:00.000Z',
    });
  });

  test('to another wallet at their value, if the wallet is closed', async () => {
    const customer = await customerUsing('10');
    const wallet = await walletOf(customer, { conversion_rate: '2' });
    await topUp(wallet, '5');
    const invoice = await issued(customer);
    await world.api.postOk(`/v1/wallets/${wallet.id}/terminate`);
    await world.api.postOk(`/v1/invoices/${invoice.id}/void`);
    const [other] = await get(`/customers/${customer.id}/wallets`);
    expect(other).toMatchObject({ balance: '10', credit_balance: '10', conversion_rate: '1' });
  });

  test('to another wallet with their priority and expiry; what has expired lives 30 days', async () => {
    const customer = await customerUsing('10');
    const wallet = await walletOf(customer, { conversion_rate: '2' });
    await topUp(wallet, '3', { priority: 1, expiry_date_utc: '2026-12-03T00:00:00.000Z' });
    await topUp(wallet, '2', { priority: 2, expiry_date_utc: '2027-05-01T00:00:00.000Z' });
    const invoice = await issued(customer);
    await world.api.postOk(`/v1/wallets/${wallet.id}/terminate`);
    await world.api.postOk(`/v1/invoices/${invoice.id}/void`);
    const [other] = await get(`/customers/${customer.id}/wallets`);
    const rows = await rowsOf(other);
    expect(
      rows.map((row: any) => [row.credits_available, row.priority, row.expiry_date]).toSorted(),
    ).toEqual([
      ['4', 2, '2027-05-01T00:00:00.000Z'],
      ['6', 1, '2027-01-03T00:00:00.000Z'],
    ]);
  });
});

test('a draft uses no credits', async () => {
  const customer = await customerUsing('10');
  const wallet = await walletOf(customer);
  await topUp(wallet, '50');
  world.api.clock.set('2026-12-02T00:00:00.000Z');
  await world.close();
  expect(await rowsOf(wallet, { type: 'debit' })).toEqual([]);
  const { items } = await world.api.postOk('/v1/invoices/search', { customer_id: customer.id });
  expect(items[0]).toMatchObject({ invoice_status: 'DRAFT', total_prepaid_credits_applied: '0' });
});
