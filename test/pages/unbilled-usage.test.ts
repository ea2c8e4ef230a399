import { decimal } from '../../domain/money.ts';
import { unbilledUsage } from '../../web/app/billing/unbilled-usage.ts';
import { startBillingWorld, type BillingWorld } from '../support/billing-world.ts';

/** The figures of the page of a wallet, from the answer of the API. */
describe('the unbilled usage of a wallet', () => {
  let world: BillingWorld;
  beforeAll(async () => {
    world = await startBillingWorld();
  });
  afterAll(() => world?.close());

  test('balance less unbilled usage less unpaid invoices is the projected balance', async () => {
    const { api, catalog } = world;
    const customer = await catalog.customer();
    // Final before there are credits that would pay it.
    const { body: invoice } = await api.post('/v1/invoices', {
      customer_id: customer.id,
      invoice_type: 'ONE_OFF',
      currency: 'usd',
      line_items: [{ display_name: 'Set-up', amount: '25', quantity: '1' }],
    });
    await api.post(`/v1/invoices/${invoice.id}/finalize`, {});
    const { body: wallet } = await api.post('/v1/wallets', {
      customer_id: customer.id,
      currency: 'usd',
      name: 'Prepaid',
      config: { allowed_price_types: ['ALL'] },
    });
    await api.post(`/v1/wallets/${wallet.id}/top-up`, {
      credits_to_add: '100',
      transaction_reason: 'FREE_CREDIT_GRANT',
      idempotency_key: 'first',
    });
    const { body: found } = await api.get(`/v1/wallets/${wallet.id}/balance/real-time`);
    expect(found).toMatchObject({ current_period_usage: '25', unpaid_invoices_amount: '25' });
    expect(unbilledUsage(found)).toBe('0');
    const projected = decimal(found.balance)
      .minus(unbilledUsage(found))
      .minus(found.unpaid_invoices_amount);
    expect(projected.toFixed()).toBe(found.real_time_balance);
  });
});
