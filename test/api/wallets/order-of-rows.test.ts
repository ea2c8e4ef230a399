import { expireCredits } from '../../../jobs/expire-credits.ts';
import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';
import { runAtNow } from '../../support/job-run.ts';

/**
 * Rows that one command writes have one time. They are listed in the order in which they moved the balance, and
 * equal blocks pay in the order in which they were given (money 2.3.3; money 2.5; api 7).
 */
let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());
beforeEach(() => world.api.clock.set('2026-11-21T12:00:00.000Z'));

const START = '2026-11-01T00:00:00.000Z';
const SIX = ['1', '2', '3', '4', '5', '6'];
type Identified = { readonly id: string };

const walletOf = (customer: Identified) =>
  world.api.postOk('/v1/wallets', { customer_id: customer.id, currency: 'usd' });
const topUp = (wallet: Identified, credits: string, more: object = {}) =>
  world.api.postOk(`/v1/wallets/${wallet.id}/top-up`, {
    ...{ credits_to_add: credits, transaction_reason: 'FREE_CREDIT_GRANT' },
    ...more,
  });
const rowsOf = async (wallet: Identified, more: object = {}) =>
  (await world.api.postOk('/v1/wallets/transactions/search', { id: wallet.id, ...more })).items;
/** The rows oldest first: each begins with the balance that the one before it left. */
async function chainOf(wallet: Identified) {
  const rows = (await rowsOf(wallet)).reverse();
  const before = rows.slice(1).map((row: any) => row.credit_balance_before);
  expect(before).toEqual(rows.slice(0, -1).map((row: any) => row.credit_balance_after));
  return rows;
}
const amounts = (rows: any[]) => rows.map((row) => row.credit_amount);

test('the grants of a subscription, in the order of the request', async () => {
  const { api, catalog } = world;
  const customer = await catalog.customer();
  const plan = await catalog.plan();
  await catalog.fixed(plan, '1');
  const grant = { scope: 'SUBSCRIPTION', cadence: 'ONETIME', expiration_type: 'NEVER' };
  await catalog.subscribe(customer, plan, {
    credit_grants: SIX.map((credits) => ({ ...grant, name: credits, credits })),
  });
  const wallet = (await api.get(`/v1/customers/${customer.id}/wallets`)).body[0];
  const rows = await chainOf(wallet);
  expect(amounts(rows)).toEqual(SIX);
  const debit = { transaction_reason: 'MANUAL_BALANCE_DEBIT', idempotency_key: wallet.id };
  await api.postOk(`/v1/wallets/${wallet.id}/debit`, { credits: '6', ...debit });
  const [{ consumption_breakdown }] = await rowsOf(wallet, { type: 'debit' });
  expect(consumption_breakdown.map((part: any) => part.credits)).toEqual(['1', '2', '3']);
  const used = consumption_breakdown.map((part: any) => part.credit_transaction_id);
  expect(used).toEqual(rows.slice(0, 3).map(({ id }: Identified) => id));
});

test('credits that a voided invoice returns, in the order in which they had paid', async () => {
  const { api, catalog } = world;
  const customer = await catalog.customer();
  const wallet = await walletOf(customer);
  for (const credits of SIX) await topUp(wallet, credits);
  const invoice = await api.postOk('/v1/invoices', {
    ...{ customer_id: customer.id, invoice_type: 'ONE_OFF', currency: 'usd' },
    line_items: [{ display_name: 'Calls', amount: '21', quantity: '1', price_type: 'USAGE' }],
  });
  await api.postOk(`/v1/invoices/${invoice.id}/void`);
  expect(amounts((await chainOf(wallet)).slice(7))).toEqual(SIX);
});

test('credits that expire together', async () => {
  const { api, catalog } = world;
  const wallet = await walletOf(await catalog.customer());
  const expiry_date_utc = '2026-11-22T00:00:00.000Z';
  for (const credits of SIX) await topUp(wallet, credits, { expiry_date_utc });
  api.clock.set('2026-11-22T12:00:00.000Z');
  await runAtNow(api, expireCredits, api.deps);
  expect(amounts((await chainOf(wallet)).slice(6))).toEqual(SIX);
});

test('invoices of one customer that are issued together', async () => {
  const { api, catalog, usage } = world;
  const customer = await catalog.customer();
  for (const used of SIX.slice(0, 5)) {
    const plan = await catalog.plan();
    const meter = await catalog.meter();
    await catalog.usage(plan, meter, { amount: '1' });
    await catalog.subscribe(customer, plan, { start_date: START });
    await usage.use(meter, customer, '2026-11-10T00:00:00.000Z', used);
  }
  const wallet = await walletOf(customer);
  await topUp(wallet, '100');
  api.clock.set('2026-12-02T00:00:00.000Z');
  await world.close();
  api.clock.set('2026-12-04T00:00:00.000Z');
  await world.finalize();
  expect(await chainOf(wallet)).toHaveLength(6);
});
