import { WALLET_STATUSES } from '../../../schemas/words.ts';
import {
  convertToPostpaid,
  expireBlocks,
  isDueToExpire,
  isHeld,
  terminateWallet,
} from '../../../domain/wallet/end-of-credits.ts';
import { refusalOf, refusalText } from '../../support/refusal.ts';
import { block, counter, left, walletOf } from './wallet-input.ts';

const expiry = '2026-03-01T00:00:00.000Z';
const dying = block('a', '10', { expiry_date: expiry });
const period = (period_end: string, is_invoiced = false) => ({ period_end, is_invoiced });
const before = period('2026-02-28T00:00:00.000Z');

describe('what waits for a late invoice (money 2.7.4)', () => {
  test.each`
    why                                    | periods                                       | at                            | held
    ${'before its expiry nothing is held'} | ${[before]}                                   | ${'2026-02-28T23:59:59.999Z'} | ${false}
    ${'a period that ended before it'}     | ${[before]}                                   | ${expiry}                     | ${true}
    ${'a period that ended with it'}       | ${[period(expiry)]}                           | ${expiry}                     | ${true}
    ${'a period that ended after it'}      | ${[period('2026-03-01T00:00:00.001Z')]}       | ${expiry}                     | ${false}
    ${'a period that was invoiced'}        | ${[period('2026-02-28T00:00:00.000Z', true)]} | ${expiry}                     | ${false}
    ${'one of several was not'}            | ${[period(expiry, true), before]}             | ${expiry}                     | ${true}
    ${'no period at all'}                  | ${[]}                                         | ${expiry}                     | ${false}
    ${'a millisecond before 72 hours'}     | ${[before]}                                   | ${'2026-03-03T23:59:59.999Z'} | ${true}
    ${'72 hours later'}                    | ${[before]}                                   | ${'2026-03-04T00:00:00.000Z'} | ${false}
  `('$why: $held', ({ periods, at, held }) => {
    expect(isHeld(dying, periods, at)).toBe(held);
  });

  test('a block that never expires is not held', () => {
    expect(isHeld(block('a', '10'), [before], expiry)).toBe(false);
  });
});

describe('what the sweep writes off', () => {
  test.each`
    why                    | of                                      | periods     | at                            | due
    ${'expired'}           | ${dying}                                | ${[]}       | ${expiry}                     | ${true}
    ${'not yet'}           | ${dying}                                | ${[]}       | ${'2026-02-28T23:59:59.999Z'} | ${false}
    ${'never'}             | ${block('a', '10')}                     | ${[]}       | ${expiry}                     | ${false}
    ${'nothing left'}      | ${{ ...dying, credits_available: '0' }} | ${[]}       | ${expiry}                     | ${false}
    ${'held'}              | ${dying}                                | ${[before]} | ${expiry}                     | ${false}
    ${'held for too long'} | ${dying}                                | ${[before]} | ${'2026-03-04T00:00:00.000Z'} | ${true}
  `('$why: $due', ({ of, periods, at, due }) => {
    expect(isDueToExpire(of, periods, at)).toBe(due);
  });

  test('the remainder of one block, by one row', () => {
    const decision = expireBlocks(walletOf('30', { conversion_rate: '2' }), [dying], () => 'row');
    expect(decision.rows).toEqual([
      expect.objectContaining({
        id: 'row',
        type: 'debit',
        transaction_reason: 'CREDIT_EXPIRED',
        transaction_status: 'completed',
        credit_amount: '10',
        amount: '20',
        credit_balance_before: '30',
        credit_balance_after: '20',
        parent_transaction_id: 'a',
        consumption_breakdown: [{ credit_transaction_id: 'a', credits: '10' }],
      }),
    ]);
    expect(left(decision.blocks)).toBe('a:0');
    expect(decision.wallet.balance).toBe('40');
  });

  test.each(WALLET_STATUSES)('of a wallet that is %s', (wallet_status) => {
    const { wallet } = expireBlocks(walletOf('10', { wallet_status }), [dying], () => 'row');
    expect([wallet.wallet_status, wallet.credit_balance]).toEqual([wallet_status, '0']);
  });
});

describe('termination (money 2.12)', () => {
  const blocks = [block('a', '10'), dying, block('empty', '0')];

  test('writes off what the blocks hold and closes', () => {
    const decision = terminateWallet(
      walletOf('20'),
      [block('a', '10'), { ...dying, id: 'b' }],
      'row',
      false,
    );
    expect(decision.wallet).toMatchObject({
      wallet_status: 'closed',
      credit_balance: '0',
      balance: '0',
    });
    expect(decision.rows).toEqual([
      expect.objectContaining({
        id: 'row',
        transaction_reason: 'WALLET_TERMINATION',
        credit_amount: '20',
        consumption_breakdown: [
          { credit_transaction_id: 'a', credits: '10' },
          { credit_transaction_id: 'b', credits: '10' },
        ],
      }),
    ]);
    expect(left(decision.blocks)).toBe('a:0 b:0');
  });

  test('an empty wallet closes without a row', () => {
    const decision = terminateWallet(walletOf('0'), [block('empty', '0')], 'row', false);
    expect([decision.wallet.wallet_status, decision.rows, decision.blocks]).toEqual([
      'closed',
      [],
      [],
    ]);
  });

  test('an overdraft stays on record', () => {
    const decision = terminateWallet(walletOf('-7'), [], 'row', false);
    expect(decision.wallet).toMatchObject({ wallet_status: 'closed', credit_balance: '-7' });
    expect(decision.rows).toEqual([]);
  });

  test('an overdraft beside held credits stays too', () => {
    const decision = terminateWallet(
      walletOf('3'),
      [{ ...dying, credits_available: '5' }],
      'row',
      false,
    );
    expect(decision.wallet.credit_balance).toBe('-2');
    expect(decision.rows[0]!.credit_amount).toBe('5');
  });

  test('a frozen wallet closes, a closed one does not', () => {
    expect(
      terminateWallet(walletOf('0', { wallet_status: 'frozen' }), [], 'row', false).wallet
        .wallet_status,
    ).toBe('closed');
    expect(
      refusalText(() =>
        terminateWallet(walletOf('0', { wallet_status: 'closed' }), blocks, 'row', false),
      ),
    ).toBe('invalid invalid_operation wallet_status');
  });

  test('a checkout in progress refuses it with 409', () => {
    const refusal = refusalOf(() => terminateWallet(walletOf('20'), blocks, 'row', true));
    expect([refusal.kind, refusal.code]).toEqual(['conflict', 'checkout_in_progress']);
    expect(refusal.details).toEqual([
      { path: 'wallet_status', code: 'checkout_in_progress', message: refusal.message },
    ]);
  });
});

describe('prepaid to postpaid (money 2.12.3)', () => {
  const blocks = [
    block('a', '10', { priority: 2, transaction_reason: 'PURCHASED_CREDIT_DIRECT' }),
    block('empty', '0'),
    dying.id === 'a' ? { ...dying, id: 'b' } : dying,
  ];
  const convert = (over = {}, of = blocks, credits = '20', hasOpenCheckout = false) =>
    convertToPostpaid(
      walletOf(credits, { conversion_rate: '2', ...over }),
      of,
      { wallet: 'wallet_2', nextRow: counter() },
      hasOpenCheckout,
    );

  test('a checkout in progress refuses it with 409', () => {
    const refusal = refusalOf(() => convert({}, blocks, '20', true));
    expect([refusal.kind, refusal.code]).toEqual(['conflict', 'checkout_in_progress']);
  });

  test('each block keeps its reason, priority and expiry, and names its origin', () => {
    const { closed, opened } = convert();
    expect(closed.wallet).toMatchObject({ wallet_status: 'closed', credit_balance: '0' });
    expect(closed.rows.map((row) => [row.id, row.credit_amount])).toEqual([['new-1', '20']]);
    expect(opened.wallet).toMatchObject({
      id: 'wallet_2',
      wallet_type: 'POST_PAID',
      wallet_status: 'active',
      credit_balance: '20',
      balance: '40',
      conversion_rate: '2',
    });
    expect(
      opened.rows.map((row) => [
        row.id,
        row.wallet_id,
        row.transaction_reason,
        row.priority,
        row.expiry_date,
        row.parent_transaction_id,
        row.credit_balance_before,
        row.credit_balance_after,
        row.credits_available,
      ]),
    ).toEqual([
      ['new-2', 'wallet_2', 'PURCHASED_CREDIT_DIRECT', 2, null, 'a', '0', '10', '10'],
      ['new-3', 'wallet_2', 'FREE_CREDIT_GRANT', null, expiry, 'b', '10', '20', '10'],
    ]);
    expect(left(opened.blocks)).toBe('new-2:10 new-3:10');
  });

  test('an empty wallet converts to an empty wallet', () => {
    const { closed, opened } = convert({}, [], '0');
    expect([closed.rows, opened.rows, opened.wallet.credit_balance]).toEqual([[], [], '0']);
  });

  test.each`
    why            | over                            | of        | credits | path
    ${'closed'}    | ${{ wallet_status: 'closed' }}  | ${blocks} | ${'20'} | ${'wallet_status'}
    ${'frozen'}    | ${{ wallet_status: 'frozen' }}  | ${blocks} | ${'20'} | ${'wallet_status'}
    ${'postpaid'}  | ${{ wallet_type: 'POST_PAID' }} | ${blocks} | ${'20'} | ${'wallet_type'}
    ${'overdrawn'} | ${{}}                           | ${[]}     | ${'-1'} | ${'wallet_type'}
  `('refused: $why', ({ over, of, credits, path }) => {
    expect(refusalText(() => convert(over, of, credits))).toBe(`invalid invalid_operation ${path}`);
  });
});
