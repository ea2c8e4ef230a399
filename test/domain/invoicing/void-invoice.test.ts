import { PAYMENT_STATUSES } from '../../../schemas/words.ts';
import { voidInvoice, type VoidableInvoice } from '../../../domain/invoicing/void-invoice.ts';
import { decimal } from '../../../domain/money.ts';
import { refusalOf, refusalText } from '../../support/refusal.ts';

const invoice = (over: Partial<VoidableInvoice> = {}): VoidableInvoice => ({
  currency: 'usd',
  invoice_status: 'FINALIZED',
  payment_status: 'SUCCEEDED',
  amount_paid: '100',
  refunded_amount: '0',
  refunds_in_flight: '0',
  recalculated_invoice_id: null,
  ...over,
});
const voided = (over: Partial<VoidableInvoice> = {}, amount: string | null = null) => {
  const decision = voidInvoice(invoice(over), amount === null ? null : decimal(amount));
  return [decision.invoice_status, decision.refund.toFixed(), decision.carried.toFixed()];
};

describe('what goes back (money 9.11 to 9.15)', () => {
  test.each`
    why                              | over                                                               | amount   | refund   | carried
    ${'all that was paid'}           | ${{}}                                                              | ${null}  | ${'100'} | ${'0'}
    ${'nothing was paid'}            | ${{ amount_paid: '0', payment_status: 'PENDING' }}                 | ${null}  | ${'0'}   | ${'0'}
    ${'less what went back before'}  | ${{ refunded_amount: '10', payment_status: 'PARTIALLY_REFUNDED' }} | ${null}  | ${'90'}  | ${'0'}
    ${'less what is in progress'}    | ${{ refunded_amount: '10', refunds_in_flight: '30' }}              | ${null}  | ${'60'}  | ${'0'}
    ${'all is in progress'}          | ${{ refunds_in_flight: '120' }}                                    | ${null}  | ${'0'}   | ${'0'}
    ${'an amount'}                   | ${{}}                                                              | ${'30'}  | ${'30'}  | ${'0'}
    ${'the whole amount'}            | ${{}}                                                              | ${'100'} | ${'100'} | ${'0'}
    ${'nothing, on request'}         | ${{}}                                                              | ${'0'}   | ${'0'}   | ${'0'}
    ${'the overpaid part as well'}   | ${{ payment_status: 'OVERPAID', amount_paid: '120' }}              | ${null}  | ${'120'} | ${'0'}
    ${'a replacement takes it over'} | ${{ recalculated_invoice_id: 'inv_2' }}                            | ${null}  | ${'0'}   | ${'100'}
    ${'a replacement takes a part'}  | ${{ recalculated_invoice_id: 'inv_2' }}                            | ${'40'}  | ${'0'}   | ${'40'}
  `('$why: $refund', ({ over, amount, refund, carried }) => {
    expect(voided(over, amount)).toEqual(['VOIDED', refund, carried]);
  });

  test.each`
    why                          | over                         | amount
    ${'more than was paid'}      | ${{}}                        | ${'100.01'}
    ${'more than is left'}       | ${{ refunded_amount: '10' }} | ${'90.01'}
    ${'negative'}                | ${{}}                        | ${'-0.01'}
    ${'finer than the currency'} | ${{}}                        | ${'0.001'}
  `('refused: $why', ({ over, amount }) => {
    expect(refusalText(() => voided(over, amount))).toBe('invalid validation_error amount');
  });
});

describe('which invoices (money 9.10)', () => {
  test.each(['DRAFT', 'FINALIZED', 'SKIPPED'] as const)('%s', (invoice_status) => {
    expect(voided({ invoice_status, payment_status: 'PENDING', amount_paid: '0' })[0]).toBe(
      'VOIDED',
    );
  });
  test('not one that is voided', () => {
    expect(refusalText(() => voided({ invoice_status: 'VOIDED', payment_status: 'PENDING' }))).toBe(
      'invalid invalid_operation invoice_status',
    );
  });

  test.each(PAYMENT_STATUSES)('payment %s', (payment_status) => {
    const attempt = () => voided({ payment_status });
    if (payment_status === 'PROCESSING') {
      const refusal = refusalOf(attempt);
      expect([refusal.kind, refusal.code]).toEqual(['conflict', 'payment_in_progress']);
      expect(refusal.details[0]!.path).toBe('payment_status');
    } else if (payment_status === 'REFUNDED' || payment_status === 'VOIDED') {
      expect(refusalText(attempt)).toBe('invalid invalid_operation payment_status');
    } else expect(attempt()).toEqual(['VOIDED', '100', '0']);
  });
});
