import {
  isUnpaid,
  unpaidSummary,
  unpaidUsage,
  type OpenInvoice,
} from '../../../domain/invoicing/unpaid.ts';

const usage = (amount: string, off: Partial<OpenInvoice['lines'][number]> = {}) => ({
  price_type: 'USAGE' as const,
  amount,
  line_item_discount: '0',
  invoice_level_discount: '0',
  prepaid_credits_applied: '0',
  ...off,
});
const fixed = (amount: string) => ({ ...usage(amount), price_type: 'FIXED' as const });
const invoice = (over: Partial<OpenInvoice> = {}): OpenInvoice => ({
  currency: 'usd',
  invoice_status: 'FINALIZED',
  payment_status: 'PENDING',
  amount_paid: '0',
  amount_remaining: '100',
  lines: [],
  ...over,
});

describe('what is unpaid (money 2.8.5, 23.62)', () => {
  test.each`
    over                                                     | unpaid
    ${{}}                                                    | ${true}
    ${{ amount_remaining: '0.01' }}                          | ${true}
    ${{ amount_remaining: '0' }}                             | ${false}
    ${{ invoice_status: 'DRAFT' }}                           | ${true}
    ${{ invoice_status: 'SKIPPED' }}                         | ${false}
    ${{ invoice_status: 'VOIDED' }}                          | ${false}
    ${{ payment_status: 'FAILED' }}                          | ${true}
    ${{ payment_status: 'PROCESSING' }}                      | ${true}
    ${{ payment_status: 'SUCCEEDED' }}                       | ${false}
    ${{ payment_status: 'OVERPAID', amount_remaining: '0' }} | ${false}
    ${{ payment_status: 'REFUNDED', amount_remaining: '0' }} | ${false}
  `('$over: $unpaid', ({ over, unpaid }) => {
    expect(isUnpaid(invoice(over))).toBe(unpaid);
  });
});

describe('the usage part of it', () => {
  test.each`
    why                       | lines                                                                      | remaining | part
    ${'no rows'}              | ${[]}                                                                      | ${'100'}  | ${'0'}
    ${'usage alone'}          | ${[usage('30')]}                                                           | ${'100'}  | ${'30'}
    ${'fees are no part'}     | ${[usage('30'), fixed('50')]}                                              | ${'100'}  | ${'30'}
    ${'no type is a fee'}     | ${[{ ...usage('30'), price_type: null }]}                                  | ${'100'}  | ${'0'}
    ${'less its discounts'}   | ${[usage('30', { line_item_discount: '5', invoice_level_discount: '2' })]} | ${'100'}  | ${'23'}
    ${'less its credits'}     | ${[usage('30', { prepaid_credits_applied: '5' })]}                         | ${'100'}  | ${'25'}
    ${'at most what is open'} | ${[usage('80'), usage('50')]}                                              | ${'100'}  | ${'100'}
    ${'exactly what is open'} | ${[usage('100')]}                                                          | ${'100'}  | ${'100'}
    ${'never below zero'}     | ${[usage('-30')]}                                                          | ${'100'}  | ${'0'}
  `('$why: $part', ({ lines, remaining, part }) => {
    expect(unpaidUsage(invoice({ lines, amount_remaining: remaining })).toFixed()).toBe(part);
  });
});

test('the summary counts the open invoices of one currency', () => {
  const summary = unpaidSummary(
    [
      invoice({
        amount_paid: '30',
        lines: [
          usage('80', { line_item_discount: '5', prepaid_credits_applied: '10' }),
          fixed('50'),
        ],
      }),
      invoice({ amount_remaining: '50', lines: [usage('50')] }),
      invoice({ payment_status: 'SUCCEEDED', amount_paid: '200', amount_remaining: '0' }),
      invoice({ currency: 'eur', amount_remaining: '999' }),
      invoice({ invoice_status: 'VOIDED', amount_paid: '7' }),
    ],
    'usd',
  );
  expect(summary).toEqual({
    total_unpaid_amount: '150',
    total_unpaid_usage_charges: '115',
    total_unpaid_fixed_charges: '35',
    total_paid_invoice_amount: '30',
  });
});

test('without invoices everything is zero', () => {
  expect(unpaidSummary([], 'usd')).toEqual({
    total_unpaid_amount: '0',
    total_unpaid_usage_charges: '0',
    total_unpaid_fixed_charges: '0',
    total_paid_invoice_amount: '0',
  });
});
