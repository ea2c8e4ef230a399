import {
  invoiceTotals,
  negativeNet,
  netOfInvoice,
  taxBase,
} from '../../../domain/invoicing/totals.ts';
import { decimal } from '../../../domain/money.ts';

const parts = (
  subtotal: string,
  discount: string,
  credits: string,
  inclusive: string,
  exclusive: string,
) => ({
  subtotal: decimal(subtotal),
  totalDiscount: decimal(discount),
  totalPrepaidCredits: decimal(credits),
  inclusiveTax: decimal(inclusive),
  exclusiveTax: decimal(exclusive),
});

describe('the fields (billing 9.3)', () => {
  test.each`
    why                           | subtotal | discount | credits  | inclusive | exclusive | tax       | total      | negative
    ${'nothing'}                  | ${'0'}   | ${'0'}   | ${'0'}   | ${'0'}    | ${'0'}    | ${'0'}    | ${'0'}     | ${'0'}
    ${'rows alone'}               | ${'100'} | ${'0'}   | ${'0'}   | ${'0'}    | ${'0'}    | ${'0'}    | ${'100'}   | ${'0'}
    ${'the worked example'}       | ${'100'} | ${'30'}  | ${'5'}   | ${'0'}    | ${'5.78'} | ${'5.78'} | ${'70.78'} | ${'0'}
    ${'inclusive tax is inside'}  | ${'121'} | ${'0'}   | ${'0'}   | ${'21'}   | ${'0'}    | ${'21'}   | ${'121'}   | ${'0'}
    ${'both kinds'}               | ${'110'} | ${'0'}   | ${'0'}   | ${'10'}   | ${'5'}    | ${'15'}   | ${'115'}   | ${'0'}
    ${'credits leave tax'}        | ${'100'} | ${'0'}   | ${'100'} | ${'0'}    | ${'10'}   | ${'10'}   | ${'10'}    | ${'0'}
    ${'credits leave no tax'}     | ${'100'} | ${'0'}   | ${'100'} | ${'0'}    | ${'0'}    | ${'0'}    | ${'0'}     | ${'0'}
    ${'rows below zero'}          | ${'-30'} | ${'0'}   | ${'0'}   | ${'0'}    | ${'0'}    | ${'0'}    | ${'0'}     | ${'30'}
    ${'discount over everything'} | ${'50'}  | ${'80'}  | ${'30'}  | ${'0'}    | ${'0'}    | ${'0'}    | ${'0'}     | ${'60'}
    ${'tax alone'}                | ${'0'}   | ${'0'}   | ${'0'}   | ${'0'}    | ${'3'}    | ${'3'}    | ${'3'}     | ${'0'}
  `(
    '$why: $total',
    ({ subtotal, discount, credits, inclusive, exclusive, tax, total, negative }) => {
      const found = parts(subtotal, discount, credits, inclusive, exclusive);
      expect(invoiceTotals(found)).toEqual({
        subtotal,
        total_discount: discount,
        total_prepaid_credits_applied: credits,
        total_tax: tax,
        total,
      });
      expect(negativeNet(found).toFixed()).toBe(negative);
    },
  );

  test('the net goes below zero where the total does not', () => {
    expect(netOfInvoice(parts('-30', '0', '0', '0', '1')).toFixed()).toBe('-29');
  });
});

test.each`
  subtotal | discount | base
  ${'100'} | ${'30'}  | ${'70'}
  ${'100'} | ${'100'} | ${'0'}
  ${'100'} | ${'101'} | ${'0'}
  ${'-5'}  | ${'0'}   | ${'0'}
`('the tax base of $subtotal less $discount is $base', ({ subtotal, discount, base }) => {
  expect(taxBase(decimal(subtotal), decimal(discount)).toFixed()).toBe(base);
});
