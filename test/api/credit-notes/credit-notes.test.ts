import { startTestApi, type TestApi } from '../../support/api.ts';
import { eventsOf, invoiceDue, payOffline } from '../../support/payments.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const credit = (invoice: any, amount: string, more: object = {}) =>
  api.post('/v1/creditnotes', {
    invoice_id: invoice.id,
    reason: 'BILLING_ERROR',
    line_items: [{ invoice_line_item_id: invoice.line_items[0].id, amount }],
    ...more,
  });
const now = { process_credit_note: true };
const walletsOf = async (customer: { id: string }) =>
  (await api.get(`/v1/customers/${customer.id}/wallets`)).body;

describe('adjustments', () => {
  test('201: a finalized note lowers what is due; a draft changes nothing', async () => {
    const { invoice, read } = await invoiceDue(api, '100');
    const draft = await credit(invoice, '10');
    expect(draft.status).toBe(201);
    expect(draft.body).toMatchObject({
      credit_note_status: 'DRAFT',
      credit_note_type: 'ADJUSTMENT',
      refund_target: null,
      total_amount: '10',
      memo: '',
      line_items: [{ display_name: 'Base', amount: '10' }],
    });
    expect(await read()).toMatchObject({ amount_due: '100', adjustment_amount: '0' });
    const { status, body } = await api.post(`/v1/creditnotes/${draft.body.id}/finalize`);
    expect([status, body.credit_note_status]).toEqual([200, 'FINALIZED']);
    expect(await read()).toMatchObject({
      amount_due: '90',
      amount_remaining: '90',
      adjustment_amount: '10',
      total: '100',
    });
    expect((await api.post(`/v1/creditnotes/${draft.body.id}/finalize`)).status).toBe(400);
    expect(await eventsOf(api, draft.body.id)).toEqual([
      'credit_note.created',
      'credit_note.updated',
    ]);
    const notified = await api.pool<{ memo: string }[]>`
      select payload #>> '{credit_note,memo}' as memo from outbox where entity_id = ${draft.body.id}`;
    expect(notified.map(({ memo }) => memo)).toEqual(['', '']);
  });

  test('what is left may be paid; voiding the note opens the invoice again', async () => {
    const { invoice, read } = await invoiceDue(api, '100');
    const { body: note } = await credit(invoice, '30', now);
    await payOffline(api, invoice, '70');
    expect(await read()).toMatchObject({ payment_status: 'SUCCEEDED', amount_due: '70' });
    expect((await api.post(`/v1/creditnotes/${note.id}/void`)).status).toBe(200);
    expect(await read()).toMatchObject({
      payment_status: 'PENDING',
      amount_due: '100',
      amount_remaining: '30',
    });
    expect((await api.post(`/v1/creditnotes/${note.id}/void`)).status).toBe(400);
  });

  test('a note over all of it activates the subscription that waits for it', async () => {
    const due = await invoiceDue(api, '30', { payment_behavior: 'default_incomplete' });
    await credit(due.invoice, '30', now);
    const { body } = await api.get(`/v1/subscriptions/${due.subscription.id}`);
    expect(body.subscription_status).toBe('active');
  });

  test('400: over the row, over what is left, of another invoice, without rows', async () => {
    const { invoice } = await invoiceDue(api, '100');
    const other = await invoiceDue(api, '5');
    await credit(invoice, '40', now);
    const refused = await Promise.all([
      credit(invoice, '101'),
      credit(invoice, '60.01'),
      credit(invoice, '1', { line_items: [] }),
      credit(invoice, '1', { reason: 'NOPE' }),
      credit(invoice, '1', { credit_note_type: 'REFUND' }),
      credit(invoice, '1', { refund_target: 'PREPAID_WALLET' }),
      credit({ ...invoice, line_items: other.invoice.line_items }, '1'),
    ]);
    expect(refused.map(({ status }) => status)).toEqual(Array(7).fill(400));
    expect((await credit({ ...invoice, id: 'inv_none' }, '1')).status).toBe(404);
  });

  test('two notes at once cannot both take the last of the row', async () => {
    const { invoice, read } = await invoiceDue(api, '100');
    const both = await Promise.all([credit(invoice, '60', now), credit(invoice, '61', now)]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 400]);
    expect(Number((await read()).adjustment_amount)).toBeLessThanOrEqual(61);
  });

  test('the same content is the same note, and sends nothing again; a void one frees its key', async () => {
    const { invoice, read } = await invoiceDue(api, '100');
    const first = await credit(invoice, '20', now);
    const again = await credit(invoice, '20.00', now);
    expect([again.status, again.body.id]).toEqual([201, first.body.id]);
    expect(await read()).toMatchObject({ adjustment_amount: '20' });
    await api.post(`/v1/creditnotes/${first.body.id}/void`);
    expect((await credit(invoice, '20', now)).body.id).not.toBe(first.body.id);
    await credit(invoice, '1', { idempotency_key: 'k' });
    expect((await credit(invoice, '2', { idempotency_key: 'k' })).status).toBe(409);
  });

  test('a key with another number of the note is refused, with the same it is the note', async () => {
    const { invoice, read } = await invoiceDue(api, '100');
    const keyed = (key: string, more: object = {}) =>
      credit(invoice, '20', { ...now, idempotency_key: key, ...more });
    const named = { credit_note_number: 'CN-A1' };
    const first = await keyed('named', named);
    expect(first.body).toMatchObject(named);
    const again = await keyed('named', named);
    expect([again.status, again.body.id]).toEqual([201, first.body.id]);
    const generated = await keyed('generated');
    expect((await keyed('generated', { credit_note_number: '' })).body.id).toBe(generated.body.id);
    for (const other of [
      await keyed('named', { credit_note_number: 'CN-A2' }),
      await keyed('named'),
      await keyed('generated', named),
    ])
      expect([other.status, other.body.code]).toEqual([409, 'idempotency_key_reused']);
    expect(await read()).toMatchObject({ adjustment_amount: '40' });
    // Without a key, the content is the key, and a number is no content.
    const content = await credit(invoice, '5', now);
    expect((await credit(invoice, '5', { ...now, ...named })).body.id).toBe(content.body.id);
  });
});

describe('refunds', () => {
  test('201: money of a paid invoice goes to the wallet, until nothing is left', async () => {
    const { invoice, customer, read } = await invoiceDue(api, '100');
    const { body: payment } = await payOffline(api, invoice, '100');
    const { body: note } = await credit(invoice, '25', now);
    expect(note).toMatchObject({ credit_note_type: 'REFUND', refund_target: 'PREPAID_WALLET' });
    expect(await read()).toMatchObject({
      payment_status: 'PARTIALLY_REFUNDED',
      amount_paid: '100',
      refunded_amount: '25',
      amount_remaining: '0',
    });
    expect(await walletsOf(customer)).toMatchObject([{ balance: '25', wallet_type: 'PRE_PAID' }]);
    expect((await credit(invoice, '75.01', now)).status).toBe(400);
    await credit(invoice, '75', now);
    expect(await read()).toMatchObject({ payment_status: 'REFUNDED', refunded_amount: '100' });
    expect((await api.get(`/v1/payments/${payment.id}`)).body.payment_status).toBe('REFUNDED');
    expect((await credit(invoice, '1')).status).toBe(400);
    expect((await api.post(`/v1/creditnotes/${note.id}/void`)).status).toBe(400);
  });

  test('two drafts over all of it: only one is finalized', async () => {
    const { invoice } = await invoiceDue(api, '100');
    await payOffline(api, invoice, '100');
    const drafts = [await credit(invoice, '80'), await credit(invoice, '80', { memo: 'again' })];
    const answers = await Promise.all(
      drafts.map(({ body }) => api.post(`/v1/creditnotes/${body.id}/finalize`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test('400: back to the source of an offline payment', async () => {
    const { invoice } = await invoiceDue(api, '10');
    await payOffline(api, invoice, '10');
    const sent = { ...now, refund_target: 'BACK_TO_SOURCE' };
    expect((await credit(invoice, '10', sent)).status).toBe(400);
  });
});

describe('POST /invoices/{id}/void', () => {
  test('the paid amount is returned in one credit; payments in flight are voided', async () => {
    const { invoice, customer, read } = await invoiceDue(api, '80');
    const { body: waiting } = await payOffline(api, invoice, '20', { process_payment: false });
    await payOffline(api, invoice, '30');
    await payOffline(api, invoice, '50');
    const path = `/v1/invoices/${invoice.id}/void`;
    expect((await api.post(path, { metadata: { why: 'mistake' } })).status).toBe(200);
    expect(await read()).toMatchObject({
      invoice_status: 'VOIDED',
      payment_status: 'REFUNDED',
      refunded_amount: '80',
      metadata: { why: 'mistake' },
    });
    expect((await api.get(`/v1/payments/${waiting.id}`)).body.payment_status).toBe('VOIDED');
    const [wallet] = await walletsOf(customer);
    expect(wallet).toMatchObject({ balance: '80', name: 'Subscription Wallet' });
    const { body } = await api.post('/v1/wallets/transactions/search', { wallet_id: wallet.id });
    expect(body.items).toMatchObject([
      { amount: '80', transaction_reason: 'INVOICE_VOID_REFUND', reference_id: invoice.id },
    ]);
    expect((await api.post(path)).status).toBe(400);
  });

  test('an amount refunds that much, and never more than was paid', async () => {
    const { invoice, read } = await invoiceDue(api, '80');
    await payOffline(api, invoice, '80');
    const path = `/v1/invoices/${invoice.id}/void`;
    expect((await api.post(path, { amount: '80.01' })).status).toBe(400);
    expect((await api.post(path, { amount: '30' })).status).toBe(200);
    expect(await read()).toMatchObject({
      payment_status: 'PARTIALLY_REFUNDED',
      refunded_amount: '30',
    });
  });
});
