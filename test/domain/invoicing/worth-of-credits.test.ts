import { creditsToPay, payableWith } from '../../../domain/invoicing/worth-of-credits.ts';
import { decimal } from '../../../domain/money.ts';

test.each`
  value                       | currency | payable
  ${'2.675'}                  | ${'usd'} | ${'2.67'}
  ${'577.089999999999999999'} | ${'usd'} | ${'577.09'}
  ${'9.999999999999'}         | ${'usd'} | ${'9.99'}
  ${'9.999999999999999999'}   | ${'jpy'} | ${'10'}
  ${'0.009999999999999999'}   | ${'usd'} | ${'0.01'}
  ${'0'}                      | ${'usd'} | ${'0'}
  ${'-5'}                     | ${'usd'} | ${'-5'}
`('credits worth $value $currency pay $payable (money 2.6.4)', ({ value, currency, payable }) => {
  expect(payableWith(decimal(value), currency).toFixed()).toBe(payable);
});

test.each`
  why                                           | amount     | rate         | available                 | credits
  ${'an exact quotient'}                        | ${'10'}    | ${'0.5'}     | ${'40'}                   | ${'20'}
  ${'an inexact one, cut below'}                | ${'10'}    | ${'3'}       | ${'40'}                   | ${'3.333333333333333333'}
  ${'an inexact one, rounded up'}               | ${'20'}    | ${'3'}       | ${'40'}                   | ${'6.666666666666666667'}
  ${'rounded up, and all there is'}             | ${'20'}    | ${'3'}       | ${'6.666666666666666666'} | ${'6.666666666666666666'}
  ${'what earlier quotients left'}              | ${'5.11'}  | ${'3'}       | ${'1.703333333333333332'} | ${'1.703333333333333332'}
  ${'too little: more than there is'}           | ${'10.01'} | ${'3'}       | ${'3.333333333333333333'} | ${'3.336666666666666667'}
  ${'a high rate: the last credit counts more'} | ${'2'}     | ${'1000000'} | ${'0.000001999999999999'} | ${'0.000002'}
`('$why: $amount at $rate takes $credits (money 2.2.6)', (of) => {
  const taken = creditsToPay(decimal(of.amount), decimal(of.rate), decimal(of.available));
  expect(taken.toFixed()).toBe(of.credits);
});
