import { PAYMENT_STATUSES } from '../../../schemas/words.ts';
import { reportPayment, type KnownPayment } from '../../../domain/invoicing/manual-payment.ts';
import { deriveInvoicePayment, EMPTY_LEDGER } from '../../../domain/invoicing/payment-ledger.ts';
import { decimal } from '../../../domain/money.ts';
import { type PaymentStatus } from '../../../domain/states/payment-status.ts';
import { refusalOf, refusalText } from '../../support/refusal.ts';

const invoice = (over = {}) => ({
  currency: 'usd',
  invoice_status: 'FINALIZED' as const,
  payment_status: 'PENDING' as PaymentStatus,
  amount_due: '100',
  payments: [] as KnownPayment[],
  ...over,
});
const real = (payment_status: PaymentStatus, amount = '100'): KnownPayment => ({
  payment_status,
  amount,
  payment_method_type: 'CARD',
  is_manual: false,
});
const report = (
  of: ReturnType<typeof invoice>,
  status: PaymentStatus,
  amount: string | null = null,
) => reportPayment(of, status, amount === null ? null : decimal(amount));
const derived = (payments: readonly KnownPayment[]) =>
  deriveInvoicePayment('FINALIZED', decimal('100'), { ...EMPTY_LEDGER, payments });

describe('a report becomes a payment (money 8.4.4)', () => {
  test.each`
    status         | amount   | paid     | remaining | result
    ${'SUCCEEDED'} | ${null}  | ${'100'} | ${'0'}    | ${'SUCCEEDED'}
    ${'SUCCEEDED'} | ${'100'} | ${'100'} | ${'0'}    | ${'SUCCEEDED'}
    ${'SUCCEEDED'} | ${'40'}  | ${'40'}  | ${'60'}   | ${'PENDING'}
    ${'OVERPAID'}  | ${'120'} | ${'120'} | ${'0'}    | ${'OVERPAID'}
    ${'PENDING'}   | ${'40'}  | ${'40'}  | ${'60'}   | ${'PENDING'}
    ${'PENDING'}   | ${null}  | ${'0'}   | ${'100'}  | ${'PENDING'}
    ${'PENDING'}   | ${'0'}   | ${'0'}   | ${'100'}  | ${'PENDING'}
    ${'FAILED'}    | ${null}  | ${'0'}   | ${'100'}  | ${'FAILED'}
    ${'FAILED'}    | ${'30'}  | ${'0'}   | ${'100'}  | ${'FAILED'}
  `('$status of $amount: paid $paid, $result', ({ status, amount, paid, remaining, result }) => {
    expect(derived(report(invoice(), status, amount))).toMatchObject({
      amount_paid: paid,
      amount_remaining: remaining,
      payment_status: result,
    });
  });

  test('as an OFFLINE row, a failed one for the open amount', () => {
    expect(report(invoice(), 'SUCCEEDED', '40')).toEqual([
      {
        payment_status: 'SUCCEEDED',
        amount: '40',
        payment_method_type: 'OFFLINE',
        is_manual: true,
      },
    ]);
    expect(report(invoice(), 'FAILED')).toEqual([
      { payment_status: 'FAILED', amount: '100', payment_method_type: 'OFFLINE', is_manual: true },
    ]);
  });

  test('reports replace each other (money 8.4.4)', () => {
    const first = report(invoice(), 'PENDING', '40');
    const second = report(invoice({ payments: first }), 'PENDING', '70');
    expect(derived(second).amount_paid).toBe('70');
    const third = report(invoice({ payments: second }), 'PENDING', '0');
    expect(third).toEqual([]);
  });

  test('attempts without money stay in the list', () => {
    const payments = [real('FAILED'), real('INITIATED')];
    expect(report(invoice({ payments }), 'SUCCEEDED')).toEqual([
      ...payments,
      expect.objectContaining({ is_manual: true, amount: '100' }),
    ]);
  });

  test('OVERPAID alone keeps an overpayment that was reported', () => {
    const payments = report(invoice(), 'OVERPAID', '120');
    expect(report(invoice({ payments, payment_status: 'OVERPAID' }), 'OVERPAID')).toEqual(payments);
  });

  test('a paid invoice may be reported paid again', () => {
    const payments = report(invoice(), 'SUCCEEDED');
    const again = report(invoice({ payments, payment_status: 'SUCCEEDED' }), 'SUCCEEDED');
    expect(derived(again).payment_status).toBe('SUCCEEDED');
  });
});

describe('refused', () => {
  test.each(['SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED'] as const)(
    'once a real payment is %s',
    (status) => {
      const attempt = () => report(invoice({ payments: [real(status)] }), 'SUCCEEDED');
      expect(refusalText(attempt)).toBe('invalid invalid_operation payment_status');
    },
  );

  test.each(['DRAFT', 'VOIDED', 'SKIPPED'])('on a %s invoice', (invoice_status) => {
    const attempt = () => report(invoice({ invoice_status }), 'SUCCEEDED');
    expect(refusalText(attempt)).toBe('invalid invalid_operation invoice_status');
    expect(refusalOf(attempt).message).toContain(invoice_status);
  });

  test.each(
    PAYMENT_STATUSES.filter(
      (status) => !['PENDING', 'SUCCEEDED', 'OVERPAID', 'FAILED'].includes(status),
    ),
  )('%s, which nobody reports by hand', (status) => {
    expect(refusalText(() => report(invoice(), status))).toBe(
      'invalid validation_error payment_status',
    );
  });

  test.each`
    from           | to
    ${'SUCCEEDED'} | ${'PENDING'}
    ${'SUCCEEDED'} | ${'FAILED'}
    ${'OVERPAID'}  | ${'PENDING'}
    ${'REFUNDED'}  | ${'SUCCEEDED'}
  `('$from to $to, which the table does not have', ({ from, to }) => {
    expect(refusalText(() => report(invoice({ payment_status: from }), to))).toBe(
      'invalid validation_error payment_status',
    );
  });

  test.each([null, '40', '100'])(
    'OVERPAID of %s, which is not more than the amount due',
    (paid) => {
      expect(refusalText(() => report(invoice(), 'OVERPAID', paid))).toBe(
        'invalid validation_error amount',
      );
    },
  );

  test('an amount finer than the currency', () => {
    expect(refusalText(() => report(invoice(), 'PENDING', '0.001'))).toBe(
      'invalid validation_error amount',
    );
    expect(report(invoice({ currency: 'kwd' }), 'PENDING', '0.001')).toHaveLength(1);
  });

  test('a negative amount', () => {
    expect(refusalText(() => report(invoice(), 'PENDING', '-0.01'))).toBe(
      'invalid validation_error amount',
    );
  });
});
