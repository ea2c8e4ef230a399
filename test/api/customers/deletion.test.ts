import { setTimeout } from 'node:timers/promises';
import { evaluateWallet } from '../../../api/billing/balances/evaluate-wallet.ts';
import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';
import { inTurns } from '../../support/turns.ts';

/** A customer is deleted when nothing runs or is open (billing 13.1). */
let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
  await world.api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
});
afterAll(() => world.stop());
beforeEach(() => world.api.clock.set('2026-11-21T12:00:00.000Z'));

const remove = ({ id }: { id: string }) => world.api.delete(`/v1/customers/${id}`);
const statusOf = async ({ id }: { id: string }) =>
  (await world.api.get(`/v1/customers/${id}`)).body.status;
const oneOffOf = ({ id }: { id: string }) => ({
  customer_id: id,
  invoice_type: 'ONE_OFF',
  currency: 'usd',
  line_items: [{ display_name: 'Work', amount: '50', quantity: '1' }],
});
const walletOf = ({ id }: { id: string }, more: object = {}) =>
  world.api.postOk('/v1/wallets', { customer_id: id, currency: 'usd', ...more });

interface Held {
  readonly path: string;
  readonly id: string;
  end(): Promise<unknown>;
}
type Customer = { readonly id: string; readonly external_id: string };

async function subscription(customer: Customer, more: object = {}): Promise<Held> {
  const plan = await world.catalog.plan();
  await world.catalog.usage(plan, await world.catalog.meter());
  const { id } = await world.catalog.subscribe(customer, plan, more);
  const end = () =>
    world.api.postOk(`/v1/subscriptions/${id}/cancel`, { cancellation_type: 'immediate' });
  return { path: 'subscriptions', id, end };
}
async function paidByOther(customer: Customer): Promise<Held> {
  const user = await world.catalog.customer();
  return await subscription(user as Customer, {
    inheritance: { invoicing_customer_external_id: customer.external_id },
  });
}
async function openInvoice(customer: Customer): Promise<Held> {
  const { id } = await world.api.postOk('/v1/invoices', oneOffOf(customer));
  return { path: 'invoices', id, end: () => world.api.postOk(`/v1/invoices/${id}/void`) };
}
async function draftInvoice(customer: Customer): Promise<Held> {
  const { id } = await world.api.postOk('/v1/invoices', {
    ...oneOffOf(customer),
    invoice_status: 'DRAFT',
  });
  return { path: 'invoices', id, end: () => world.api.postOk(`/v1/invoices/${id}/void`) };
}
async function paymentInProgress(customer: Customer): Promise<Held> {
  const { id } = await world.api.postOk('/v1/payments', {
    destination_type: 'CUSTOMER',
    destination_id: customer.id,
    payment_method_type: 'CARD',
    payment_method_id: 'pm_test_3ds',
    amount: '1',
    currency: 'usd',
  });
  return { path: 'payments', id, end: () => world.api.delete(`/v1/payments/${id}`) };
}

async function refundInProgress(customer: Customer): Promise<Held> {
  const { id: invoice } = await world.api.postOk('/v1/invoices', oneOffOf(customer));
  const paid = await world.api.postOk('/v1/payments', {
    destination_type: 'INVOICE',
    destination_id: invoice,
    payment_method_type: 'CARD',
    payment_method_id: 'pm_test_success',
    amount: '50',
    currency: 'usd',
  });
  const { id } = await world.api.postOk('/v1/refunds', {
    payment_id: paid.id,
    target: 'BACK_TO_SOURCE',
  });
  const set = (state: string) =>
    world.api.pool`update refunds set refund_status = ${state} where id = ${id}`;
  await set('PROCESSING');
  return { path: 'refunds', id, end: () => set('SUCCEEDED') };
}

test.each([
  ['a subscription', subscription],
  ['a subscription of another customer that this one pays', paidByOther],
  ['an open invoice', openInvoice],
  ['a payment in progress', paymentInProgress],
  ['a refund in progress', refundInProgress],
  ['a draft', draftInvoice],
])('400 with %s, then 204', async (_, hold) => {
  const customer = await world.catalog.customer();
  const held = await hold(customer);
  const refused = await remove(customer);
  expect([refused.status, refused.body.code]).toEqual([400, 'invalid_operation']);
  expect(refused.body.details).toMatchObject([
    { path: held.path, code: 'invalid_state', message: expect.stringContaining(held.id) },
  ]);
  expect(await statusOf(customer)).toBe('published');
  await held.end();
  expect((await remove(customer)).status).toBe(204);
  expect((await remove(customer)).status).toBe(204);
  expect(await statusOf(customer)).toBe('archived');
});

test.each([
  ['credits', '5', '0'],
  ['an overdraft', '0', '3'],
])('a wallet with %s is frozen; it can still be terminated', async (_, loaded, debited) => {
  const customer = await world.catalog.customer();
  const wallet = await walletOf(
    customer,
    loaded === '0' ? {} : { initial_credits_to_load: loaded },
  );
  if (debited !== '0')
    await world.api.postOk(`/v1/wallets/${wallet.id}/debit`, {
      credits: debited,
      transaction_reason: 'MANUAL_BALANCE_DEBIT',
      idempotency_key: wallet.id,
    });
  const { body: before } = await world.api.get(`/v1/wallets/${wallet.id}`);
  expect((await remove(customer)).status).toBe(204);
  const { body: after } = await world.api.get(`/v1/wallets/${wallet.id}`);
  expect(after).toMatchObject({ wallet_status: 'frozen', balance: before.balance });
  const terminated = await world.api.post(`/v1/wallets/${wallet.id}/terminate`);
  expect(terminated.status).toBe(200);
});

test('empty wallets are closed, so that no automatic top-up buys credits any more', async () => {
  const customer = await world.catalog.customer();
  const wallet = await walletOf(customer);
  expect((await remove(customer)).status).toBe(204);
  const { body } = await world.api.get(`/v1/wallets/${wallet.id}`);
  expect(body.wallet_status).toBe('closed');
});

test('an archived customer gets no invoice', async () => {
  const customer = await world.catalog.customer();
  await remove(customer);
  const { status, body } = await world.api.post('/v1/invoices', oneOffOf(customer));
  expect([status, body.details[0].path]).toEqual([400, 'customer_id']);
});

test('an archived customer buys no credits with an invoice (money 2.11.1)', async () => {
  const customer = await world.catalog.customer();
  const wallet = await world.api.postOk('/v1/wallets', {
    customer_id: customer.id,
    currency: 'usd',
    initial_credits_to_load: '10',
  });
  const path = `/v1/wallets/${wallet.id}/top-up`;
  const buy = (more: object = {}) =>
    world.api.post(path, {
      credits_to_add: '5',
      transaction_reason: 'PURCHASED_CREDIT_INVOICED',
      ...more,
    });
  const key = { idempotency_key: 'before the deletion' };
  const bought = await buy(key);
  await world.api.postOk(`/v1/invoices/${bought.body.invoice_id}/void`);
  await remove(customer);
  for (const more of [{}, { checkout: { payment_provider: 'test' } }])
    expect(await buy(more)).toMatchObject({
      status: 400,
      body: { code: 'invalid_operation', details: [{ path: 'customer_id' }] },
    });
  expect((await buy(key)).body.invoice_id).toBe(bought.body.invoice_id);
  const given = { credits_to_add: '5', transaction_reason: 'FREE_CREDIT_GRANT' };
  expect((await world.api.postOk(path, given)).wallet.credit_balance).toBe('15');
});

test('of a deletion and a purchase of credits at once, one is refused', async () => {
  const customer = await world.catalog.customer();
  const wallet = await world.api.postOk('/v1/wallets', {
    customer_id: customer.id,
    currency: 'usd',
    initial_credits_to_load: '10',
  });
  const [deleted, bought] = await Promise.all([
    remove(customer),
    world.api.post(`/v1/wallets/${wallet.id}/top-up`, {
      credits_to_add: '5',
      transaction_reason: 'PURCHASED_CREDIT_INVOICED',
    }),
  ]);
  expect([deleted.status, bought.status].toSorted()).toEqual(
    deleted.status === 204 ? [204, 400] : [200, 400],
  );
});

test.each([
  ['customer_id', ({ id }: Customer) => ({ customer_id: id })],
  ['external_customer_id', ({ external_id }: Customer) => ({ external_customer_id: external_id })],
])('a wallet by %s waits for a deletion that has begun, and is refused', async (_, by) => {
  const customer = await world.catalog.customer();
  const { pool, scope } = world.api;
  let created: Promise<{ status: number }>;
  await pool.begin(async (tx) => {
    await tx`
      select id from customers where tenant_id = ${scope.tenant_id} and id = ${customer.id} for update`;
    created = world.api.post('/v1/wallets', { ...by(customer as Customer), currency: 'usd' });
    await Promise.race([created, setTimeout(300)]);
    await tx`update customers set status = 'archived' where id = ${customer.id}`;
  });
  expect([400, 404]).toContain((await created!).status);
});

test('of a deletion and an invoice at once, one is refused', async () => {
  const customer = await world.catalog.customer();
  const [deleted, invoiced] = await Promise.all([
    remove(customer),
    world.api.post('/v1/invoices', oneOffOf(customer)),
  ]);
  expect([deleted.status, invoiced.status].toSorted()).toEqual(
    deleted.status === 204 ? [204, 400] : [201, 400],
  );
});

/** The deletion decides by the wallets as they are once it holds their locks (billing 13.1). */
describe('a deletion that waits for a wallet', () => {
  const afterOther = async (wallet: { id: string }, other: () => Promise<unknown>, of: Customer) =>
    (
      await inTurns<[unknown, { status: number }]>(
        world.api,
        (tx) => tx`select from wallets where id = ${wallet.id} for update`,
        other,
        () => remove(of),
      )
    )[1];
  const balanceOf = async ({ id }: { id: string }) =>
    (await world.api.get(`/v1/wallets/${id}`)).body;

  test('which gets its first credits: they are kept, and the wallet is frozen', async () => {
    const customer = await world.catalog.customer();
    const wallet = await walletOf(customer);
    const credit = { credits_to_add: '10', transaction_reason: 'FREE_CREDIT_GRANT' };
    const topUp = () => world.api.postOk(`/v1/wallets/${wallet.id}/top-up`, credit);
    expect(await afterOther(wallet, topUp, customer)).toMatchObject({ status: 204 });
    expect(await balanceOf(wallet)).toMatchObject({ wallet_status: 'frozen', balance: '10' });
  });

  test('which buys credits by itself: their invoice is open, and the customer stays', async () => {
    const customer = await world.catalog.customer();
    const wallet = await walletOf(customer, { initial_credits_to_load: '1' });
    await world.api.postOk(`/v1/wallets/${wallet.id}/debit`, {
      ...{ credits: '1', transaction_reason: 'MANUAL_BALANCE_DEBIT', idempotency_key: wallet.id },
    });
    // Nothing has evaluated it since.
    const { pool } = world.api;
    const auto = {
      enabled: true,
      threshold: '5',
      amount: '20',
      invoicing: true,
      cooldown_ms: null,
    };
    await pool`update wallets set auto_topup = ${pool.json(auto)} where id = ${wallet.id}`;
    const caller = { scope: world.api.scope, user_id: '' };
    const buy = () => evaluateWallet(world.api.deps, caller, wallet.id);
    expect(await afterOther(wallet, buy, customer)).toMatchObject({ status: 400 });
    expect(await statusOf(customer)).toBe('published');
    expect(await balanceOf(wallet)).toMatchObject({ wallet_status: 'active' });
  });
});
