import { createTestClock, startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf } from '../../support/catalog.ts';

/** A clock that moves with every reading, as a real one does: no record is older than its owner. */
let api: TestApi;
beforeAll(async () => {
  const clock = createTestClock();
  api = await startTestApi({
    clock: {
      ...clock,
      now: () => {
        clock.advance(1);
        return clock.now();
      },
    },
  });
});
afterAll(() => api.close());

const expectInOrder = (...records: { created_at: string; updated_at: string }[]) => {
  for (const { created_at, updated_at } of records)
    expect(Date.parse(updated_at)).toBeGreaterThanOrEqual(Date.parse(created_at));
};

test('a wallet that is converted, and the rows of the new one', async () => {
  const customer = await catalogOf(api).customer();
  const wallet = await api.postOk('/v1/wallets', {
    ...{ customer_id: customer.id, currency: 'usd', initial_credits_to_load: '10' },
  });
  const { original_wallet, new_wallet } = await api.postOk(`/v1/wallets/${wallet.id}/modify`, {
    modification_type: 'prepaid_to_postpaid',
  });
  expectInOrder(wallet, original_wallet, new_wallet);
  const { items } = await api.postOk('/v1/wallets/transactions/search', { id: new_wallet.id });
  expect(items).toMatchObject([{ credit_amount: '10' }]);
  expectInOrder({ created_at: new_wallet.created_at, updated_at: items[0].created_at });
});
