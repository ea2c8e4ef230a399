import { TRANSACTION_STATUSES } from '../../../schemas/words.ts';
import { decimal } from '../../../domain/money.ts';
import {
  bonusCredits,
  completePurchase,
  failPurchase,
  recallPurchase,
  recallRefunded,
  recallUnspent,
  requestPurchase,
} from '../../../domain/wallet/purchase.ts';
import { refusalOf, refusalText } from '../../support/refusal.ts';
import { block, credit, left, NOW, walletOf } from './wallet-input.ts';

const purchase = credit('20', { id: 'buy', transaction_reason: 'PURCHASED_CREDIT_INVOICED' });
const bonus = credit('50', {
  id: 'bonus',
  transaction_reason: 'PURCHASED_CREDIT_BONUS',
  parent_transaction_id: 'buy',
});

describe('a purchase that waits (money 2.11)', () => {
  test('moves nothing', () => {
    const rows = requestPurchase(walletOf('7', { topup_conversion_rate: '2' }), [purchase, bonus]);
    expect(
      rows.map((row) => [
        row.id,
        row.transaction_status,
        row.credit_amount,
        row.amount,
        row.credits_available,
        row.credit_balance_after,
        row.parent_transaction_id,
      ]),
    ).toEqual([
      ['buy', 'pending', '20', '40', '0', '7', null],
      ['bonus', 'pending', '50', '100', '0', '7', 'buy'],
    ]);
  });

  test('is refused by a closed wallet', () => {
    expect(
      refusalText(() => requestPurchase(walletOf('0', { wallet_status: 'closed' }), [purchase])),
    ).toBe('invalid invalid_operation wallet_status');
  });
});

describe('its completion (money 2.11.6)', () => {
  const pending = (wallet = walletOf('0')) => requestPurchase(wallet, [purchase, bonus]);
  const figures = (decision: ReturnType<typeof completePurchase>) =>
    decision.rows.map((row) => [
      row.id,
      row.credit_balance_before,
      row.credit_balance_after,
      row.credits_available,
    ]);

  test('rewrites the balances and opens the blocks', () => {
    const rows = pending();
    const decision = completePurchase(walletOf('5'), [block('old', '5')], rows, NOW);
    expect(figures(decision)).toEqual([
      ['buy', '5', '25', '20'],
      ['bonus', '25', '75', '50'],
    ]);
    expect(decision.rows.every((row) => row.transaction_status === 'completed')).toBe(true);
    expect(decision.blocks).toEqual([
      expect.objectContaining({
        id: 'buy',
        created_at: NOW,
        transaction_reason: 'PURCHASED_CREDIT_INVOICED',
      }),
      expect.objectContaining({
        id: 'bonus',
        created_at: NOW,
        transaction_reason: 'PURCHASED_CREDIT_BONUS',
      }),
    ]);
    expect(decision.wallet.credit_balance).toBe('75');
  });

  test('both paths give the same balance, for all rates', () => {
    const rates = { conversion_rate: '0.01', topup_conversion_rate: '0.008' };
    const decision = completePurchase(walletOf('0', rates), [], pending(walletOf('0', rates)), NOW);
    expect(decision.wallet.balance).toBe('0.7');
    expect(decision.rows[0]!.amount).toBe('0.16');
  });

  test('fills an overdraft, the purchase before the bonus (2.4.3)', () => {
    const decision = completePurchase(walletOf('-30'), [], pending(), NOW);
    expect(figures(decision)).toEqual([
      ['buy', '-30', '-10', '0'],
      ['bonus', '-10', '40', '40'],
    ]);
    expect(left(decision.blocks)).toBe('buy:0 bonus:40');
  });

  test('a second completion does nothing', () => {
    const first = completePurchase(walletOf('0'), [], pending(), NOW);
    const second = completePurchase(first.wallet, first.blocks, first.rows, NOW);
    expect(second).toEqual({ wallet: first.wallet, rows: [], blocks: [] });
  });

  test('of one row when only the other was completed before', () => {
    const [buy, extra] = pending();
    const first = completePurchase(walletOf('0'), [], [buy!], NOW);
    const second = completePurchase(first.wallet, first.blocks, [first.rows[0]!, extra!], NOW);
    expect(figures(second)).toEqual([['bonus', '20', '70', '50']]);
  });

  test.each`
    why                | wallet                         | status       | path
    ${'closed wallet'} | ${{ wallet_status: 'closed' }} | ${'pending'} | ${'wallet_status'}
    ${'failed row'}    | ${{}}                          | ${'failed'}  | ${'transaction_status'}
  `('refused: $why', ({ wallet, status, path }) => {
    const rows = pending().map((row) => ({ ...row, transaction_status: status }));
    expect(refusalText(() => completePurchase(walletOf('0', wallet), [], rows, NOW))).toBe(
      `invalid invalid_operation ${path}`,
    );
  });

  test('a row of another wallet, or a debit, is a bug', () => {
    const [row] = pending();
    for (const over of [{ wallet_id: 'other' }, { type: 'debit' as const }]) {
      expect(() => completePurchase(walletOf('0'), [], [{ ...row!, ...over }], NOW)).toThrow(
        'not a credit of this wallet',
      );
    }
  });
});

describe('its failure (money 2.11.8)', () => {
  test.each(TRANSACTION_STATUSES)('of rows that are %s', (transaction_status) => {
    const rows = requestPurchase(walletOf('0'), [purchase, bonus]).map((row) => ({
      ...row,
      transaction_status,
    }));
    if (transaction_status === 'completed') {
      expect(refusalText(() => failPurchase(rows))).toBe(
        'invalid invalid_operation transaction_status',
      );
    } else {
      expect(failPurchase(rows).map((row) => row.transaction_status)).toEqual(['failed', 'failed']);
    }
  });
});

describe('credits whose invoice is voided (money 9.16)', () => {
  const bought = (left: string, bonusLeft = '50', recalled = '0') => [
    { block: block('buy', left), credit_amount: '20', recalled: decimal(recalled) },
    { block: block('bonus', bonusLeft), credit_amount: '50', recalled: decimal('0') },
  ];

  test('go, with their bonus', () => {
    const decision = recallPurchase(walletOf('75'), bought('20'), 'row');
    expect(decision.rows).toEqual([
      expect.objectContaining({
        id: 'row',
        type: 'debit',
        transaction_reason: 'CREDIT_ADJUSTMENT',
        credit_amount: '70',
        credit_balance_before: '75',
        credit_balance_after: '5',
        consumption_breakdown: [
          { credit_transaction_id: 'buy', credits: '20' },
          { credit_transaction_id: 'bonus', credits: '50' },
        ],
      }),
    ]);
    expect(left(decision.blocks)).toBe('buy:0 bonus:0');
    expect(decision.wallet.credit_balance).toBe('5');
  });

  test('go without those that a refund took back before', () => {
    const decision = recallPurchase(walletOf('65'), bought('10', '50', '10'), 'row');
    expect(decision.rows).toMatchObject([{ credit_amount: '60', credit_balance_after: '5' }]);
  });

  test.each`
    why                    | of
    ${'some bought ones'}  | ${bought('19.99')}
    ${'some of the bonus'} | ${bought('20', '0')}
  `('are refused with 409 when $why are spent', ({ of }) => {
    const refusal = refusalOf(() => recallPurchase(walletOf('75'), of, 'row'));
    expect([refusal.kind, refusal.code]).toEqual(['conflict', 'credits_spent']);
    expect(refusal.details).toEqual([
      { path: 'wallet_transaction', code: 'credits_spent', message: refusal.message },
    ]);
  });

  test('a closed wallet refuses', () => {
    const closed = walletOf('0', { wallet_status: 'closed' });
    expect(refusalText(() => recallPurchase(closed, bought('20'), 'row'))).toBe(
      'invalid invalid_operation wallet_status',
    );
  });
});

describe('credits whose price is refunded (money 9.16)', () => {
  const bought = (left: string, bonusLeft: string, recalled = '0', bonusRecalled = '0') => [
    { block: block('buy', left), credit_amount: '20', recalled: decimal(recalled) },
    { block: block('bonus', bonusLeft), credit_amount: '50', recalled: decimal(bonusRecalled) },
  ];
  const refunded = (of: ReturnType<typeof bought>, amount: string) =>
    recallRefunded(walletOf('75'), of, 'row', { refunded: decimal(amount), price: decimal('40') });

  test.each`
    refunds                | of                                   | amount  | after
    ${'a part'}            | ${bought('20', '50')}                | ${'10'} | ${'buy:15 bonus:37.5'}
    ${'a further part'}    | ${bought('15', '37.5', '5', '12.5')} | ${'20'} | ${'buy:10 bonus:25'}
    ${'all'}               | ${bought('20', '50')}                | ${'40'} | ${'buy:0 bonus:0'}
    ${'the rest'}          | ${bought('10', '25', '10', '25')}    | ${'40'} | ${'buy:0 bonus:0'}
    ${'the unspent half'}  | ${bought('10', '25')}                | ${'20'} | ${'buy:0 bonus:0'}
    ${'more than was due'} | ${bought('20', '50')}                | ${'41'} | ${'buy:0 bonus:0'}
  `('$refunds: $after', ({ of, amount, after }) => {
    const { rows, blocks } = refunded(of, amount);
    expect(left(blocks)).toBe(after);
    expect(rows).toMatchObject([{ transaction_reason: 'CREDIT_ADJUSTMENT', type: 'debit' }]);
  });

  test('a part that does not divide is stored with 18 decimals, and the rest takes all', () => {
    const price = { refunded: decimal('1'), price: decimal('3') };
    const of = [{ block: block('buy', '20'), credit_amount: '20', recalled: decimal('0') }];
    const [row] = recallRefunded(walletOf('20'), of, 'row', price).rows;
    expect(row!.credit_amount).toBe('6.666666666666666667');
    const rest = [
      { block: block('buy', '13.333333333333333333'), credit_amount: '20', recalled: decimal(row!.credit_amount) },
    ]; // prettier-ignore
    const last = recallRefunded(walletOf('20'), rest, 'row', { ...price, refunded: decimal('3') });
    expect(left(last.blocks)).toBe('buy:0');
  });

  test('nothing, if earlier refunds took these credits', () => {
    const { rows, blocks } = refunded(bought('10', '25', '10', '25'), '20');
    expect([rows, blocks]).toEqual([[], []]);
  });

  test.each`
    why                    | of
    ${'some bought ones'}  | ${bought('9.99', '50')}
    ${'some of the bonus'} | ${bought('20', '24.99')}
  `('are refused with 409 when $why are spent', ({ of }) => {
    const refusal = refusalOf(() => refunded(of, '20'));
    expect([refusal.kind, refusal.code]).toEqual(['conflict', 'credits_spent']);
  });

  describe('at the gateway', () => {
    const gone = (of: ReturnType<typeof bought>, amount: string, wallet = walletOf('75')) =>
      recallUnspent(wallet, of, 'row', { refunded: decimal(amount), price: decimal('40') });

    test.each`
      unspent           | of                               | amount  | after
      ${'all'}          | ${bought('20', '50')}            | ${'20'} | ${'buy:10 bonus:25'}
      ${'a part'}       | ${bought('3', '50')}             | ${'20'} | ${'buy:0 bonus:25'}
      ${'another part'} | ${bought('3', '0')}              | ${'40'} | ${'buy:0'}
      ${'a later one'}  | ${bought('4', '10', '10', '25')} | ${'24'} | ${'buy:2 bonus:5'}
    `('$unspent: $after', ({ of, amount, after }) => {
      expect(left(gone(of, amount).blocks)).toBe(after);
    });

    test('nothing unspent', () => {
      const { rows, blocks, wallet } = gone(bought('0', '0'), '40');
      expect([rows, blocks, wallet.credit_balance]).toEqual([[], [], '75']);
    });

    test('in a frozen wallet', () => {
      const frozen = walletOf('75', { wallet_status: 'frozen' });
      expect(left(gone(bought('20', '50'), '40', frozen).blocks)).toBe('buy:0 bonus:0');
    });
  });
});

describe('bonus credits (money 2.11.10)', () => {
  const slabs = [
    { threshold: '5000', bonus: { type: 'flat', value: '750' } },
    { threshold: '10000', bonus: { type: 'percentage', value: '20' } },
  ] as const;

  test.each`
    bought     | credits   | threshold
    ${'4999'}  | ${'0'}    | ${null}
    ${'5000'}  | ${'750'}  | ${'5000'}
    ${'9999'}  | ${'750'}  | ${'5000'}
    ${'10000'} | ${'2000'} | ${'10000'}
    ${'12345'} | ${'2469'} | ${'10000'}
  `('example G: $bought bring $credits', ({ bought, credits, threshold }) => {
    const found = bonusCredits(decimal(bought), slabs);
    expect([found.credits.toFixed(), found.threshold]).toEqual([credits, threshold]);
  });

  test('an explicit bonus wins', () => {
    const found = bonusCredits(decimal('6000'), slabs, decimal('500'));
    expect([found.credits.toFixed(), found.threshold]).toEqual(['500', null]);
  });

  test('a percentage keeps 18 decimals', () => {
    const odd = [
      { threshold: '0', bonus: { type: 'percentage', value: '33.3333333333333333' } },
    ] as const;
    expect(bonusCredits(decimal('0.1'), odd).credits.toFixed()).toBe('0.033333333333333333');
  });

  test('without slabs there is no bonus', () => {
    expect(bonusCredits(decimal('100'), []).credits.toFixed()).toBe('0');
  });
});
