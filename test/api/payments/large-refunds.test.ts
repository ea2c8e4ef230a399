import { voidInvoice, voidLocked } from '../../../api/billing/invoices/void-invoice.ts';
import { lockInvoice } from '../../../api/billing/records/invoice-repository.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { countingPool } from '../../support/counting-pool.ts';
import { eventsOf, invoiceDue, payOffline } from '../../support/payments.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

interface Instalments {
  /** How each instalment of 1.00 is paid. */
  readonly how: object;
  /** The invoice after it. */
  readonly invoice: (count: number) => object;
  /** The status of each payment after it. */
  readonly status: string;
  readonly events: readonly string[];
}

/** How many statements the void of an invoice sends that was paid in so many instalments. */
async function statementsOfVoid(count: number, of: Instalments): Promise<number> {
  const { invoice, read } = await invoiceDue(api, `${count}`);
  for (let paid = 0; paid < count; paid += 1)
    expect((await payOffline(api, invoice, '1', of.how)).status).toBe(201);
  const { pool, statements } = countingPool(api.pool);
  const caller = { scope: api.scope, user_id: '' };
  await voidInvoice({ ...api.deps, pool }, caller, invoice.id, {});
  const sent = statements();
  expect(await read()).toMatchObject({ invoice_status: 'VOIDED', ...of.invoice(count) });
  const { items } = (await api.get(`/v1/payments?destination_id=${invoice.id}`)).body;
  expect(items.map((payment: any) => payment.payment_status)).toEqual(
    Array.from({ length: count }, () => of.status),
  );
  for (const { id } of items) expect(await eventsOf(api, id)).toEqual(of.events);
  return sent;
}

const REFUNDED = {
  invoice: (count: number) => ({ payment_status: 'REFUNDED', refunded_amount: `${count}` }),
  status: 'REFUNDED',
  events: ['payment.created', 'payment.success', 'payment.updated'],
};

test.each<[string, Instalments]>([
  ['paid', { how: {}, ...REFUNDED }],
  [
    'not paid yet',
    {
      how: { process_payment: false },
      invoice: () => ({ payment_status: 'VOIDED', amount_paid: '0' }),
      status: 'VOIDED',
      events: ['payment.created', 'payment.updated'],
    },
  ],
])(
  'the void of an invoice with many payments sends as many statements as with few: %s',
  async (_, of) => {
    expect(await statementsOfVoid(24, of)).toBe(await statementsOfVoid(3, of));
  },
);

test('refunds to a gateway are stored with as many statements as one', async () => {
  await api.postOk('/v1/connections', { name: 'Test', provider_type: 'test' });
  const caller = { scope: api.scope, user_id: '' };
  const card = { payment_method_type: 'CARD', payment_gateway: 'test' };
  const how = { ...card, payment_method_id: 'pm_test_success' };
  const stored = async (count: number) => {
    const { invoice } = await invoiceDue(api, `${count}`);
    for (let paid = 0; paid < count; paid += 1) await payOffline(api, invoice, '1', how);
    const { pool, statements } = countingPool(api.pool);
    await pool.begin(async (tx) => {
      const locked = await lockInvoice(tx, api.scope, invoice.id);
      await voidLocked(tx, api.deps, caller, locked, { refund_target: 'BACK_TO_SOURCE' });
    });
    const refunds = await api.pool`
      select from refunds where invoice_id = ${invoice.id}
         and refund_target = 'BACK_TO_SOURCE' and refund_status = 'PENDING'`;
    expect(refunds).toHaveLength(count);
    return statements();
  };
  expect(await stored(12)).toBe(await stored(3));
});
