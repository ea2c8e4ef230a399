import { PAYMENT_STATUSES } from '../../../schemas/words.ts';
import {
  assertCollectable,
  payFromWallets,
  type PayingWallet,
} from '../../../domain/invoicing/pay-from-wallets.ts';
import { decimal } from '../../../domain/money.ts';
import { refusalOf } from '../../support/refusal.ts';

const paying = (
  id: string,
  balance: string,
  allowed_price_types: PayingWallet['allowed_price_types'],
): PayingWallet => ({ id, balance, allowed_price_types });
const USAGE = ['USAGE'] as const;
const FIXED = ['FIXED'] as const;
const ALL = ['ALL'] as const;
const open = (usage: string, fixed: string, tax = '0') => ({
  usage: decimal(usage),
  fixed: decimal(fixed),
  remaining: decimal(usage).plus(decimal(fixed)).plus(decimal(tax)),
});
const pay = (due: ReturnType<typeof open>, wallets: PayingWallet[], currency = 'usd') =>
  payFromWallets(due, wallets, currency).map(({ wallet_id, amount }) => [
    wallet_id,
    amount.toFixed(),
  ]);

describe('who pays what (money 2.6.8)', () => {
  test.each`
    why                                   | due                                                                         | wallets                                                                          | paid
    ${'enough'}                           | ${open('50', '0')}                                                          | ${[paying('a', '60', ALL)]}                                                      | ${[['a', '50']]}
    ${'not enough'}                       | ${open('50', '0')}                                                          | ${[paying('a', '40', ALL)]}                                                      | ${[['a', '40']]}
    ${'nothing there'}                    | ${open('50', '0')}                                                          | ${[paying('a', '0', ALL)]}                                                       | ${[]}
    ${'nothing due'}                      | ${open('0', '0')}                                                           | ${[paying('a', '10', ALL)]}                                                      | ${[]}
    ${'usage only'}                       | ${open('30', '20')}                                                         | ${[paying('a', '40', USAGE)]}                                                    | ${[['a', '30']]}
    ${'fees only'}                        | ${open('30', '20')}                                                         | ${[paying('a', '40', FIXED)]}                                                    | ${[['a', '20']]}
    ${'no fees for a fee wallet'}         | ${open('30', '0')}                                                          | ${[paying('a', '40', FIXED)]}                                                    | ${[]}
    ${'both kinds named are all'}         | ${open('30', '20')}                                                         | ${[paying('a', '45', ['USAGE', 'FIXED'])]}                                       | ${[['a', '45']]}
    ${'usage first, then fees, then all'} | ${open('30', '20')}                                                         | ${[paying('all', '99', ALL), paying('f', '5', FIXED), paying('u', '10', USAGE)]} | ${[['u', '10'], ['f', '5'], ['all', '35']]}
    ${'the fuller first'}                 | ${open('30', '0')}                                                          | ${[paying('small', '10', ALL), paying('big', '25', ALL)]}                        | ${[['big', '25'], ['small', '5']]}
    ${'an unrestricted one pays tax'}     | ${open('30', '20', '5')}                                                    | ${[paying('a', '99', ALL)]}                                                      | ${[['a', '55']]}
    ${'a restricted one does not'}        | ${open('30', '0', '5')}                                                     | ${[paying('a', '99', USAGE)]}                                                    | ${[['a', '30']]}
    ${'what an adjustment left open'}     | ${{ usage: decimal('30'), fixed: decimal('20'), remaining: decimal('10') }} | ${[paying('u', '99', USAGE), paying('f', '99', FIXED)]}                          | ${[['u', '10']]}
    ${'two of one kind'}                  | ${open('30', '0')}                                                          | ${[paying('a', '20', USAGE), paying('b', '15', USAGE)]}                          | ${[['a', '20'], ['b', '10']]}
  `('$why', ({ due, wallets, paid }) => {
    expect(pay(due, wallets)).toEqual(paid);
  });

  test('the payment of an unrestricted wallet reduces usage first', () => {
    const due = open('30', '20');
    expect(pay(due, [paying('a', '40', ALL), paying('b', '99', ALL)])).toEqual([['b', '50']]);
    expect(pay(due, [paying('a', '40', ALL), paying('b', '35', ALL)])).toEqual([
      ['a', '40'],
      ['b', '10'],
    ]);
  });

  test.each`
    currency | balance                    | paid
    ${'usd'} | ${'10.999'}                | ${'10.99'}
    ${'jpy'} | ${'10.999'}                | ${'10'}
    ${'kwd'} | ${'10.999'}                | ${'10.999'}
    ${'usd'} | ${'9.999999999999999999'}  | ${'10'}
    ${'usd'} | ${'10.009999999999999998'} | ${'10.01'}
    ${'usd'} | ${'9.999999999'}           | ${'9.99'}
  `('whole minor units of $currency', ({ currency, balance, paid }) => {
    expect(pay(open('50', '0'), [paying('a', balance, ALL)], currency)).toEqual([['a', paid]]);
  });

  test('an overdrawn wallet pays nothing', () => {
    expect(pay(open('50', '0'), [paying('a', '-5', ALL)])).toEqual([]);
  });
});

describe('what can be collected (money 8.1.4)', () => {
  test.each(['DRAFT', 'SKIPPED', 'VOIDED'] as const)('not %s', (invoice_status) => {
    const refusal = refusalOf(() =>
      assertCollectable({ invoice_status, payment_status: 'PENDING' }),
    );
    expect(refusal.code).toBe('invalid_operation');
    expect(refusal.details[0]!.path).toBe('invoice_status');
    expect(refusal.message).toContain(invoice_status);
  });

  test.each(PAYMENT_STATUSES)('finalized and %s', (payment_status) => {
    const collect = () => assertCollectable({ invoice_status: 'FINALIZED', payment_status });
    if (['SUCCEEDED', 'OVERPAID', 'REFUNDED', 'VOIDED'].includes(payment_status)) {
      expect(refusalOf(collect).message).toContain(payment_status);
      expect(refusalOf(collect).details[0]!.path).toBe('payment_status');
    } else {
      expect(collect).not.toThrow();
    }
  });
});
