import {
  isOwed,
  paymentStateOf,
  type PayableInvoice,
} from '../../web/app/billing/payment-state.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const YESTERDAY = '2026-11-20T12:00:00.000Z';
const TOMORROW = '2026-11-22T12:00:00.000Z';

const invoice = (fields: Partial<PayableInvoice>): PayableInvoice => ({
  invoice_status: 'FINALIZED',
  payment_status: 'PENDING',
  amount_remaining: '10',
  amount_paid: '0',
  due_date: TOMORROW,
  ...fields,
});

describe('how far an invoice is paid', () => {
  test.each<[string | null, Partial<PayableInvoice>]>([
    [null, { invoice_status: 'DRAFT' }],
    [null, { invoice_status: 'SKIPPED', amount_remaining: '0' }],
    ['Voided', { invoice_status: 'VOIDED' }],
    ['Due', {}],
    ['Due', { due_date: null }],
    ['Overdue', { due_date: YESTERDAY }],
    ['Overdue', { due_date: YESTERDAY, amount_paid: '4' }],
    ['Partially paid', { amount_paid: '4' }],
    ['Payment processing', { payment_status: 'PROCESSING', due_date: YESTERDAY }],
    ['Payment failed', { payment_status: 'FAILED' }],
    ['Overdue, payment failed', { payment_status: 'FAILED', due_date: YESTERDAY }],
    ['Paid', { payment_status: 'SUCCEEDED', amount_remaining: '0' }],
    ['Paid', { payment_status: 'PENDING', amount_remaining: '0.00' }],
    ['Overpaid', { payment_status: 'OVERPAID', amount_remaining: '0' }],
    ['Refunded', { payment_status: 'REFUNDED', amount_remaining: '0' }],
    ['Partially refunded', { payment_status: 'PARTIALLY_REFUNDED', amount_remaining: '0' }],
  ])('%s: %j', (state, fields) => {
    expect(paymentStateOf(invoice(fields), NOW)?.[0] ?? null).toBe(state);
  });

  test('nothing of a draft or a voided invoice is owed, whatever its amounts are', () => {
    expect(isOwed(invoice({ invoice_status: 'VOIDED', payment_status: 'VOIDED' }))).toBe(false);
    for (const invoice_status of ['DRAFT', 'SKIPPED'] as const)
      expect(isOwed(invoice({ invoice_status }))).toBe(false);
    expect(isOwed(invoice({}))).toBe(true);
  });

  test('a draft whose payment page waits is owed: the page asks for its amount', () => {
    const draft = invoice({ invoice_status: 'DRAFT' });
    expect(isOwed({ ...draft, source_type: 'checkout' })).toBe(true);
    expect(isOwed({ ...draft, source_type: null })).toBe(false);
  });
});
