import { voidInvoice } from '../../../api/billing/invoices/void-invoice.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { countingPool } from '../../support/counting-pool.ts';
import { invoiceDue, payOffline } from '../../support/payments.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

/** How many statements the void of an invoice sends that was paid in so many instalments of 1.00. */
async function statementsOfVoid(instalments: number): Promise<number> {
  const { invoice, read } = await invoiceDue(api, `${instalments}`);
  for (let paid = 0; paid < instalments; paid += 1) await payOffline(api, invoice, '1');
  const { pool, statements } = countingPool(api.pool);
  await voidInvoice({ ...api.deps, pool }, { scope: api.scope, user_id: '' }, invoice.id, {});
  expect(await read()).toMatchObject({
    ...{ invoice_status: 'VOIDED', payment_status: 'REFUNDED' },
    refunded_amount: `${instalments}`,
  });
  const { items } = (await api.get(`/v1/payments?destination_id=${invoice.id}`)).body;
  expect(items.map((payment: any) => payment.payment_status)).toEqual(
    Array.from({ length: instalments }, () => 'REFUNDED'),
  );
  const told = await api.pool`
    select from outbox where event_type = 'payment.updated'
       and payload -> 'payment' ->> 'destination_id' = ${invoice.id}
       and payload -> 'payment' ->> 'payment_status' = 'REFUNDED'`;
  expect(told).toHaveLength(instalments);
  return statements();
}

test('the void of an invoice with many payments sends as many statements as with few', async () => {
  expect(await statementsOfVoid(24)).toBe(await statementsOfVoid(3));
});
