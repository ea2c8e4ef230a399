import {
  applyPrepaidCredits,
  paysFor,
  totalApplied,
  type PrepaidWallet,
} from '../../../domain/invoicing/prepaid-credits.ts';
import { decimal } from '../../../domain/money.ts';
import type { PriceType } from '../../../domain/pricing/price.ts';
import { wallet } from './invoice-input.ts';

const row = (net: string, price_type: PriceType | null = 'USAGE') => ({
  net: decimal(net),
  price_type,
});
const PLENTY = decimal('1000000');

function apply(
  rows: ReturnType<typeof row>[],
  wallets: PrepaidWallet[],
  cap = PLENTY,
  currency = 'usd',
) {
  const credits = applyPrepaidCredits(rows, wallets, cap, currency);
  return {
    applied: credits.applied.map((amount) => amount.toFixed()),
    debits: credits.debits.map(({ wallet_id, amount, credits: taken }) => [
      wallet_id,
      amount,
      taken,
    ]),
    total: totalApplied(credits).toFixed(),
    steps: credits.steps.map((step) => [step.row, step.wallet_id, step.amount.toFixed()]),
  };
}

describe('rows are paid in their order (money 2.6)', () => {
  test.each`
    why                        | rows                                           | credits     | applied
    ${'all of one row'}        | ${[row('10')]}                                 | ${'10'}     | ${['10']}
    ${'less than the row'}     | ${[row('10')]}                                 | ${'4'}      | ${['4']}
    ${'more than the row'}     | ${[row('10')]}                                 | ${'11'}     | ${['10']}
    ${'row by row'}            | ${[row('10'), row('10'), row('10')]}           | ${'15'}     | ${['10', '5', '0']}
    ${'nothing there'}         | ${[row('10')]}                                 | ${'0'}      | ${['0']}
    ${'no rows'}               | ${[]}                                          | ${'10'}     | ${[]}
    ${'a zero row'}            | ${[row('0'), row('10')]}                       | ${'10'}     | ${['0', '10']}
    ${'a negative row'}        | ${[row('-5'), row('10')]}                      | ${'20'}     | ${['0', '10']}
    ${'fixed fees are not'}    | ${[row('10', 'FIXED'), row('5')]}              | ${'20'}     | ${['0', '5']}
    ${'no type counts as fee'} | ${[row('10', null), row('5')]}                 | ${'20'}     | ${['0', '5']}
    ${'whole cents only'}      | ${[row('7.33'), row('5'), row('20', 'FIXED')]} | ${'10.005'} | ${['7.33', '2.67', '0']}
    ${'less than a cent'}      | ${[row('10')]}                                 | ${'0.009'}  | ${['0']}
  `('$why: $applied', ({ rows, credits, applied }) => {
    expect(apply(rows, [wallet('w', credits)]).applied).toEqual(applied);
  });

  test('the worked example E leaves 0.005 in the wallet', () => {
    const { debits, total } = apply(
      [row('7.33'), row('5'), row('20', 'FIXED')],
      [wallet('w', '10.005')],
    );
    expect(total).toBe('10');
    expect(debits).toEqual([['w', '10', '10']]);
  });

  test.each`
    currency | credits      | applied       | debit
    ${'jpy'} | ${'10.9'}    | ${['10']}     | ${'10'}
    ${'usd'} | ${'10.999'}  | ${['10.99']}  | ${'10.99'}
    ${'kwd'} | ${'10.9999'} | ${['10.999']} | ${'10.999'}
    ${'clf'} | ${'1.00009'} | ${['1']}      | ${'1'}
  `('$currency pays $applied out of $credits', ({ currency, credits, applied, debit }) => {
    const paid = apply([row('100')], [wallet('w', credits)], PLENTY, currency);
    expect(paid.applied).toEqual(applied);
    expect(paid.debits).toEqual([['w', debit, debit]]);
  });
});

describe('several wallets', () => {
  test('one after the other, over the same rows', () => {
    const paid = apply([row('50'), row('20')], [wallet('w1', '30'), wallet('w2', '100')]);
    expect(paid.applied).toEqual(['50', '20']);
    expect(paid.debits).toEqual([
      ['w1', '30', '30'],
      ['w2', '40', '40'],
    ]);
    expect(paid.steps).toEqual([
      [0, 'w1', '30'],
      [0, 'w2', '20'],
      [1, 'w2', '20'],
    ]);
  });

  test('a wallet that is not needed is not debited', () => {
    expect(apply([row('10')], [wallet('w1', '10'), wallet('w2', '10')]).debits).toEqual([
      ['w1', '10', '10'],
    ]);
  });

  test('each pays what its config allows', () => {
    const paid = apply(
      [row('10'), row('20', 'FIXED')],
      [
        wallet('fees', '15', { allowed_price_types: ['FIXED'] }),
        wallet('all', '100', { allowed_price_types: ['ALL'] }),
      ],
    );
    expect(paid.applied).toEqual(['10', '20']);
    expect(paid.debits).toEqual([
      ['fees', '15', '15'],
      ['all', '15', '15'],
    ]);
  });
});

describe('credits and money', () => {
  test.each`
    rate      | credits   | net      | applied  | debited
    ${'2'}    | ${'100'}  | ${'50'}  | ${'50'}  | ${'25'}
    ${'0.01'} | ${'1000'} | ${'2.5'} | ${'2.5'} | ${'250'}
    ${'3'}    | ${'10'}   | ${'10'}  | ${'10'}  | ${'3.333333333333333333'}
    ${'3'}    | ${'10'}   | ${'100'} | ${'30'}  | ${'10'}
    ${'0.3'}  | ${'1'}    | ${'1'}   | ${'0.3'} | ${'1'}
    ${'7'}    | ${'1.43'} | ${'10'}  | ${'10'}  | ${'1.428571428571428571'}
  `('at $rate a credit, $net is paid with $debited', ({ rate, credits, net, applied, debited }) => {
    const paid = apply([row(net)], [wallet('w', credits, { conversion_rate: rate })]);
    expect(paid.applied).toEqual([applied]);
    expect(paid.debits).toEqual([['w', applied, debited]]);
  });

  test('what earlier debits left of a rate with an inexact quotient pays its whole value', () => {
    // 577.98 at 3.00 a credit, less 0.89: 192.66 - 0.296666666666666667 credits.
    const left = wallet('w', '192.363333333333333333', { conversion_rate: '3' });
    expect(apply([row('1000')], [left]).debits).toEqual([
      ['w', '577.09', '192.363333333333333333'],
    ]);
  });

  test('a debit never asks for more than the wallet has', () => {
    const third = '0.333333333333333333';
    const paid = apply([row('1')], [wallet('w', third, { conversion_rate: '3.0000000000000001' })]);
    expect(paid.debits[0]![2]!.length).toBeLessThanOrEqual(third.length);
    expect(decimal(paid.debits[0]![2]!).lte(decimal(third))).toBe(true);
  });

  test('an overdrawn wallet pays nothing', () => {
    expect(apply([row('10')], [wallet('w', '-5')])).toMatchObject({ applied: ['0'], debits: [] });
  });
});

describe('the cap of the invoice (billing 9.2)', () => {
  test.each`
    cap      | applied
    ${'30'}  | ${['30', '0']}
    ${'60'}  | ${['50', '10']}
    ${'100'} | ${['50', '50']}
    ${'0'}   | ${['0', '0']}
    ${'-20'} | ${['0', '0']}
  `('$cap: $applied', ({ cap, applied }) => {
    expect(apply([row('50'), row('50')], [wallet('w', '500')], decimal(cap)).applied).toEqual(
      applied,
    );
  });

  test('it is shared by the wallets', () => {
    const paid = apply(
      [row('50'), row('50')],
      [wallet('w1', '20'), wallet('w2', '500')],
      decimal('60'),
    );
    expect(paid.debits).toEqual([
      ['w1', '20', '20'],
      ['w2', '40', '40'],
    ]);
  });
});

describe('what a list of price types means (money 2.1.6)', () => {
  test.each`
    allowed               | usage    | fixed    | none
    ${['USAGE']}          | ${true}  | ${false} | ${false}
    ${['FIXED']}          | ${false} | ${true}  | ${true}
    ${['ALL']}            | ${true}  | ${true}  | ${true}
    ${['USAGE', 'FIXED']} | ${true}  | ${true}  | ${true}
    ${['USAGE', 'ALL']}   | ${true}  | ${true}  | ${true}
    ${[]}                 | ${true}  | ${true}  | ${true}
  `('$allowed', ({ allowed, usage, fixed, none }) => {
    expect(paysFor(allowed, 'USAGE')).toBe(usage);
    expect(paysFor(allowed, 'FIXED')).toBe(fixed);
    expect(paysFor(allowed, null)).toBe(none);
  });
});
