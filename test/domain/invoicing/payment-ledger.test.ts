import { PAYMENT_STATUSES } from '../../../schemas/words.ts';
import {
  broughtMoney,
  deriveInvoicePayment,
  EMPTY_LEDGER,
  paidAt,
  type InvoiceLedger,
  type LedgerPayment,
} from '../../../domain/invoicing/payment-ledger.ts';
import { decimal } from '../../../domain/money.ts';
import { type PaymentStatus } from '../../../domain/states/payment-status.ts';
import type { InvoiceStatus } from '../../../domain/states/invoice.ts';

const pay = (
  amount: string,
  payment_status: PaymentStatus = 'SUCCEEDED',
  payment_method_type = 'CARD',
): LedgerPayment => ({
  amount,
  payment_status,
  payment_method_type,
});
const refund = (
  amount: string,
  refund_status: 'PENDING' | 'PROCESSING' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED' = 'SUCCEEDED',
) => ({
  amount,
  refund_status,
});
const note = (
  total_amount: string,
  credit_note_type: 'ADJUSTMENT' | 'REFUND' = 'ADJUSTMENT',
  credit_note_status: 'DRAFT' | 'FINALIZED' | 'VOIDED' = 'FINALIZED',
) => ({ total_amount, credit_note_type, credit_note_status });

const derive = (
  total: string,
  ledger: Partial<InvoiceLedger>,
  status: InvoiceStatus = 'FINALIZED',
) => deriveInvoicePayment(status, decimal(total), { ...EMPTY_LEDGER, ...ledger });

describe('figures (money 8.4.1)', () => {
  test.each`
    why                              | total    | ledger                                                                                                                                       | adj      | due      | paid     | remaining | over    | refunded
    ${'nothing happened'}            | ${'100'} | ${{}}                                                                                                                                        | ${'0'}   | ${'100'} | ${'0'}   | ${'100'}  | ${'0'}  | ${'0'}
    ${'part'}                        | ${'100'} | ${{ payments: [pay('60')] }}                                                                                                                 | ${'0'}   | ${'100'} | ${'60'}  | ${'40'}   | ${'0'}  | ${'0'}
    ${'in two parts'}                | ${'100'} | ${{ payments: [pay('60'), pay('40')] }}                                                                                                      | ${'0'}   | ${'100'} | ${'100'} | ${'0'}    | ${'0'}  | ${'0'}
    ${'too much'}                    | ${'100'} | ${{ payments: [pay('60'), pay('60')] }}                                                                                                      | ${'0'}   | ${'100'} | ${'120'} | ${'0'}    | ${'20'} | ${'0'}
    ${'adjusted'}                    | ${'100'} | ${{ credit_notes: [note('30')] }}                                                                                                            | ${'30'}  | ${'70'}  | ${'0'}   | ${'70'}   | ${'0'}  | ${'0'}
    ${'adjusted twice'}              | ${'100'} | ${{ credit_notes: [note('30'), note('20')] }}                                                                                                | ${'50'}  | ${'50'}  | ${'0'}   | ${'50'}   | ${'0'}  | ${'0'}
    ${'adjusted and paid'}           | ${'100'} | ${{ credit_notes: [note('30')], payments: [pay('80')] }}                                                                                     | ${'30'}  | ${'70'}  | ${'80'}  | ${'0'}    | ${'10'} | ${'0'}
    ${'adjusted away'}               | ${'100'} | ${{ credit_notes: [note('130')] }}                                                                                                           | ${'130'} | ${'0'}   | ${'0'}   | ${'0'}    | ${'0'}  | ${'0'}
    ${'a draft note'}                | ${'100'} | ${{ credit_notes: [note('30', 'ADJUSTMENT', 'DRAFT')] }}                                                                                     | ${'0'}   | ${'100'} | ${'0'}   | ${'100'}  | ${'0'}  | ${'0'}
    ${'a voided note'}               | ${'100'} | ${{ credit_notes: [note('30', 'ADJUSTMENT', 'VOIDED')] }}                                                                                    | ${'0'}   | ${'100'} | ${'0'}   | ${'100'}  | ${'0'}  | ${'0'}
    ${'a refund note'}               | ${'100'} | ${{ credit_notes: [note('30', 'REFUND')], payments: [pay('100')] }}                                                                          | ${'0'}   | ${'100'} | ${'100'} | ${'0'}    | ${'0'}  | ${'0'}
    ${'refunded'}                    | ${'100'} | ${{ payments: [pay('100')], refunds: [refund('20'), refund('5')] }}                                                                          | ${'0'}   | ${'100'} | ${'100'} | ${'0'}    | ${'0'}  | ${'25'}
    ${'refunds that did not arrive'} | ${'100'} | ${{ payments: [pay('100')], refunds: [refund('1', 'PENDING'), refund('2', 'PROCESSING'), refund('3', 'FAILED'), refund('4', 'CANCELLED')] }} | ${'0'}   | ${'100'} | ${'100'} | ${'0'}    | ${'0'}  | ${'0'}
  `('$why', ({ total, ledger, adj, due, paid, remaining, over, refunded }) => {
    expect(derive(total, ledger)).toMatchObject({
      adjustment_amount: adj,
      amount_due: due,
      amount_paid: paid,
      amount_remaining: remaining,
      overpaid_amount: over,
      refunded_amount: refunded,
    });
  });

  test.each(PAYMENT_STATUSES)('a payment that is %s counts only if it brought money', (status) => {
    const settled = ['SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED'].includes(status);
    expect(broughtMoney({ payment_status: status })).toBe(settled);
    expect(derive('100', { payments: [pay('10', status)] }).amount_paid).toBe(settled ? '10' : '0');
  });
});

describe('the status of a finalized invoice (money 8.4.2)', () => {
  test.each`
    why                                                    | total    | ledger                                                               | status
    ${'nothing happened'}                                  | ${'100'} | ${{}}                                                                | ${'PENDING'}
    ${'nothing is due'}                                    | ${'0'}   | ${{}}                                                                | ${'SUCCEEDED'}
    ${'part is paid'}                                      | ${'100'} | ${{ payments: [pay('99.99')] }}                                      | ${'PENDING'}
    ${'all is paid'}                                       | ${'100'} | ${{ payments: [pay('100')] }}                                        | ${'SUCCEEDED'}
    ${'a cent too much'}                                   | ${'100'} | ${{ payments: [pay('100.01')] }}                                     | ${'OVERPAID'}
    ${'paid though nothing is due'}                        | ${'0'}   | ${{ payments: [pay('1')] }}                                          | ${'OVERPAID'}
    ${'adjusted away'}                                     | ${'100'} | ${{ credit_notes: [note('100')] }}                                   | ${'SUCCEEDED'}
    ${'the rest adjusted away'}                            | ${'100'} | ${{ payments: [pay('40')], credit_notes: [note('60')] }}             | ${'SUCCEEDED'}
    ${'part refunded'}                                     | ${'100'} | ${{ payments: [pay('100')], refunds: [refund('1')] }}                | ${'PARTIALLY_REFUNDED'}
    ${'all but a cent refunded'}                           | ${'100'} | ${{ payments: [pay('100')], refunds: [refund('99.99')] }}            | ${'PARTIALLY_REFUNDED'}
    ${'all refunded'}                                      | ${'100'} | ${{ payments: [pay('100')], refunds: [refund('60'), refund('40')] }} | ${'REFUNDED'}
    ${'a refund is in progress'}                           | ${'100'} | ${{ payments: [pay('100')], refunds: [refund('60', 'PENDING')] }}    | ${'SUCCEEDED'}
    ${'being processed'}                                   | ${'100'} | ${{ payments: [pay('100', 'PROCESSING')] }}                          | ${'PROCESSING'}
    ${'part paid, rest processed'}                         | ${'100'} | ${{ payments: [pay('40'), pay('60', 'PROCESSING')] }}                | ${'PROCESSING'}
    ${'the newest in flight decides'}                      | ${'100'} | ${{ payments: [pay('60', 'PROCESSING'), pay('40', 'PENDING')] }}     | ${'PENDING'}
    ${'a later failure does not hide one being processed'} | ${'100'} | ${{ payments: [pay('60', 'PROCESSING'), pay('40', 'FAILED')] }}      | ${'PROCESSING'}
    ${'the last attempt failed'}                           | ${'100'} | ${{ payments: [pay('100', 'FAILED')] }}                              | ${'FAILED'}
    ${'failed after part was paid'}                        | ${'100'} | ${{ payments: [pay('40'), pay('60', 'FAILED')] }}                    | ${'PENDING'}
    ${'failed before a pending one'}                       | ${'100'} | ${{ payments: [pay('100', 'FAILED'), pay('100', 'PENDING')] }}       | ${'PENDING'}
    ${'pending before a failed one'}                       | ${'100'} | ${{ payments: [pay('100', 'PENDING'), pay('100', 'FAILED')] }}       | ${'FAILED'}
    ${'first one is being set up'}                         | ${'100'} | ${{ payments: [pay('100', 'INITIATED', 'PAYMENT_LINK')] }}           | ${'INITIATED'}
    ${'second one is being set up'}                        | ${'100'} | ${{ payments: [pay('100', 'FAILED'), pay('100', 'INITIATED')] }}     | ${'PENDING'}
    ${'offline is never set up'}                           | ${'100'} | ${{ payments: [pay('100', 'INITIATED', 'OFFLINE')] }}                | ${'PENDING'}
    ${'credits are never set up'}                          | ${'100'} | ${{ payments: [pay('100', 'INITIATED', 'CREDITS')] }}                | ${'PENDING'}
    ${'voided attempts say nothing'}                       | ${'100'} | ${{ payments: [pay('100', 'VOIDED')] }}                              | ${'PENDING'}
  `('$why: $status', ({ total, ledger, status }) => {
    expect(derive(total, ledger).payment_status).toBe(status);
  });
});

describe('the status of other invoices', () => {
  test.each`
    invoice      | total    | ledger                                                  | status
    ${'DRAFT'}   | ${'100'} | ${{}}                                                   | ${'PENDING'}
    ${'DRAFT'}   | ${'0'}   | ${{}}                                                   | ${'PENDING'}
    ${'DRAFT'}   | ${'100'} | ${{ payments: [pay('100', 'FAILED')] }}                 | ${'PENDING'}
    ${'SKIPPED'} | ${'0'}   | ${{}}                                                   | ${'PENDING'}
    ${'VOIDED'}  | ${'100'} | ${{}}                                                   | ${'VOIDED'}
    ${'VOIDED'}  | ${'0'}   | ${{}}                                                   | ${'VOIDED'}
    ${'VOIDED'}  | ${'100'} | ${{ payments: [pay('100', 'FAILED')] }}                 | ${'VOIDED'}
    ${'VOIDED'}  | ${'100'} | ${{ payments: [pay('100')] }}                           | ${'SUCCEEDED'}
    ${'VOIDED'}  | ${'100'} | ${{ payments: [pay('120')] }}                           | ${'OVERPAID'}
    ${'VOIDED'}  | ${'100'} | ${{ payments: [pay('100')], refunds: [refund('30')] }}  | ${'PARTIALLY_REFUNDED'}
    ${'VOIDED'}  | ${'100'} | ${{ payments: [pay('100')], refunds: [refund('100')] }} | ${'REFUNDED'}
    ${'VOIDED'}  | ${'100'} | ${{ payments: [pay('40')] }}                            | ${'PENDING'}
  `('$invoice of $total: $status', ({ invoice, total, ledger, status }) => {
    expect(derive(total, ledger, invoice).payment_status).toBe(status);
  });
});

describe('the worked examples', () => {
  test('N: offline 60 of 100, a link for 60, then 20 go back', () => {
    const first = derive('100', { payments: [pay('60', 'SUCCEEDED', 'OFFLINE')] });
    expect([first.payment_status, first.amount_remaining]).toEqual(['PENDING', '40']);
    const both = [pay('60', 'SUCCEEDED', 'OFFLINE'), pay('60', 'SUCCEEDED', 'PAYMENT_LINK')];
    const second = derive('100', { payments: both });
    expect([
      second.payment_status,
      second.amount_paid,
      second.overpaid_amount,
      second.amount_remaining,
    ]).toEqual(['OVERPAID', '120', '20', '0']);
    const third = derive('100', { payments: both, refunds: [refund('20')] });
    expect([third.payment_status, third.amount_paid, third.refunded_amount]).toEqual([
      'PARTIALLY_REFUNDED',
      '120',
      '20',
    ]);
  });

  test('N in yen and in dinar', () => {
    const yen = derive('100', { payments: [pay('60'), pay('60')], refunds: [refund('20')] });
    expect([yen.overpaid_amount, yen.refunded_amount]).toEqual(['20', '20']);
    const dinar = derive('1.000', { payments: [pay('0.6'), pay('0.601')] });
    expect([dinar.payment_status, dinar.overpaid_amount]).toEqual(['OVERPAID', '0.201']);
  });

  test('O: an adjustment note is paid around and voided again', () => {
    const adjusted = derive('100', { credit_notes: [note('30')] });
    expect([adjusted.amount_due, adjusted.amount_remaining]).toEqual(['70', '70']);
    const paid = derive('100', { credit_notes: [note('30')], payments: [pay('70')] });
    expect(paid.payment_status).toBe('SUCCEEDED');
    const reopened = derive('100', {
      credit_notes: [note('30', 'ADJUSTMENT', 'VOIDED')],
      payments: [pay('70')],
    });
    expect([reopened.amount_due, reopened.amount_remaining, reopened.payment_status]).toEqual([
      '100',
      '30',
      'PENDING',
    ]);
  });
});

describe('when it was paid (money 8.4.3)', () => {
  const at = '2026-03-01T00:00:00.000Z';
  const before = { paid_at: '2026-01-01T00:00:00.000Z', amount_paid: '100' };
  const paid = { amount_paid: '100', amount_remaining: '0' };
  test.each(PAYMENT_STATUSES)('first time %s', (payment_status) => {
    const settles = payment_status === 'SUCCEEDED' || payment_status === 'OVERPAID';
    const unpaid = { paid_at: null, amount_paid: '0' };
    expect(paidAt(unpaid, { ...paid, payment_status }, at)).toBe(settles ? at : null);
  });
  test.each([
    ['once it is set', { ...paid, payment_status: 'SUCCEEDED' }],
    ['when all is refunded', { ...paid, payment_status: 'REFUNDED' }],
    [
      'when a voided note opens an amount',
      { ...paid, amount_remaining: '30', payment_status: 'PENDING' },
    ],
    [
      'when less than an overpayment is left',
      { ...paid, amount_paid: '90', payment_status: 'SUCCEEDED' },
    ],
  ] as const)('stays %s', (_when, after) => {
    expect(paidAt(before, after, at)).toBe(before.paid_at);
  });
  test('is cleared by a payment that is taken back', () => {
    const after = { amount_paid: '5', amount_remaining: '95', payment_status: 'PENDING' } as const;
    expect(paidAt(before, after, at)).toBeNull();
  });
});
