import { debitWallet } from '../../../domain/wallet/wallet.ts';
import { RETURNED_CREDITS_DAYS, reverseDebit } from '../../../domain/wallet/reversal.ts';
import type { CreditBlock } from '../../../domain/wallet/credit-block.ts';
import { refusalText } from '../../support/refusal.ts';
import { block, counter, debit, left, NOW, walletOf } from './wallet-input.ts';

const blocks = [
  block('soon', '10', { priority: 1, expiry_date: '2026-04-01T00:00:00.000Z' }),
  block('never', '20', { transaction_reason: 'PURCHASED_CREDIT_DIRECT' }),
];
const spend = (
  credits: string,
  wallet = walletOf('30', { conversion_rate: '2', topup_conversion_rate: '3' }),
) => {
  const decision = debitWallet(wallet, blocks, debit(credits), NOW);
  const touched = new Map(decision.blocks.map((each) => [each.id, each]));
  const after = blocks.map((each) => touched.get(each.id) ?? each);
  return { wallet: decision.wallet, row: decision.rows[0]!, after };
};
const reverse = (
  spent: ReturnType<typeof spend>,
  at = NOW,
  open: readonly CreditBlock[] = spent.after,
) =>
  reverseDebit(
    spent.wallet,
    {
      open: open.filter(({ credits_available }) => credits_available !== '0'),
      consumed: spent.after,
    },
    spent.row,
    counter(),
    at,
  );

describe('the very credits go back to the very blocks (money 2.6.6, 9.11)', () => {
  test('breakdown and reversal are inverse', () => {
    const decision = reverse(spend('15'));
    expect(decision.blocks).toEqual(blocks);
    expect(decision.wallet).toEqual(
      walletOf('30', { conversion_rate: '2', topup_conversion_rate: '3' }),
    );
  });

  test('a block that was not touched is not written', () => {
    expect(left(reverse(spend('4')).blocks)).toBe('soon:10');
  });

  test('one row for each block, with no rate but the conversion rate, none of them a block', () => {
    expect(
      reverse(spend('15')).rows.map((row) => [
        row.id,
        row.type,
        row.transaction_reason,
        row.credit_amount,
        row.amount,
        row.parent_transaction_id,
        row.priority,
        row.expiry_date,
        row.credit_balance_before,
        row.credit_balance_after,
        row.credits_available,
      ]),
    ).toEqual([
      [
        'new-1',
        'credit',
        'INVOICE_VOID_REFUND',
        '10',
        '20',
        'soon',
        1,
        '2026-04-01T00:00:00.000Z',
        '15',
        '25',
        '0',
      ],
      ['new-2', 'credit', 'INVOICE_VOID_REFUND', '5', '10', 'never', null, null, '25', '30', '0'],
    ]);
  });

  test('the amounts of the rows add up to the amount of the debit, although a third of a credit cannot', () => {
    const { row, ...spent } = spend('15');
    const rows = (amount: string) => reverse({ ...spent, row: { ...row, amount } }).rows;
    expect(rows('30.000000000000000001').map(({ amount }) => amount)).toEqual([
      '20',
      '10.000000000000000001',
    ]);
    expect(rows('29.999999999999999999').map(({ amount }) => amount)).toEqual([
      '20',
      '9.999999999999999999',
    ]);
  });

  test('what was spent meanwhile stays spent', () => {
    const spent = spend('15');
    const later = spent.after.map((each) =>
      each.id === 'never' ? { ...each, credits_available: '2' } : each,
    );
    const decision = reverseDebit(
      walletOf('2', { conversion_rate: '2', topup_conversion_rate: '3' }),
      { open: later.filter(({ credits_available }) => credits_available !== '0'), consumed: later },
      spent.row,
      counter(),
      NOW,
    );
    expect(left(decision.blocks)).toBe('soon:10 never:7');
    expect(decision.wallet.credit_balance).toBe('17');
  });
});

describe('a block that has expired meanwhile stays dead', () => {
  const at = '2026-04-01T00:00:00.000Z';

  test('its credits become a block of their own for 30 days', () => {
    const decision = reverse(spend('15'), at);
    expect(decision.blocks).toEqual([
      {
        id: 'new-1',
        transaction_reason: 'INVOICE_VOID_REFUND',
        credits_available: '10',
        priority: 1,
        expiry_date: '2026-05-01T00:00:00.000Z',
        created_at: at,
      },
      blocks[1],
    ]);
    expect(decision.rows[0]).toMatchObject({
      id: 'new-1',
      credits_available: '10',
      expiry_date: '2026-05-01T00:00:00.000Z',
      parent_transaction_id: 'soon',
    });
    expect(RETURNED_CREDITS_DAYS).toBe(30);
  });

  test('a millisecond before its expiry it is alive', () => {
    expect(left(reverse(spend('15'), '2026-03-31T23:59:59.999Z').blocks)).toBe('soon:10 never:20');
  });
});

describe('an overdraft is filled first', () => {
  test('then the rest goes to the blocks', () => {
    const spent = spend('15');
    const overdrawn = { ...spent, wallet: walletOf('-12') };
    const decision = reverse(overdrawn, NOW, []);
    // 12 are owed: 10 for `soon` vanish in the debt, and 2 of the 5 for `never`.
    expect(left(decision.blocks)).toBe('soon:0 never:18');
    expect(decision.wallet.credit_balance).toBe('3');
  });
});

describe('refused and impossible', () => {
  test('a closed wallet takes nothing back', () => {
    const spent = spend('15');
    const closed = { ...spent, wallet: walletOf('15', { wallet_status: 'closed' }) };
    expect(refusalText(() => reverse(closed))).toBe('invalid invalid_operation wallet_status');
  });

  test('a row of another wallet, a credit, or a block that was not read is a bug', () => {
    const spent = spend('15');
    expect(() => reverse({ ...spent, row: { ...spent.row, wallet_id: 'other' } })).toThrow(
      'not a debit',
    );
    expect(() => reverse({ ...spent, row: { ...spent.row, type: 'credit' } })).toThrow(
      'not a debit',
    );
    expect(() => reverse({ ...spent, after: [spent.after[1]!] }, NOW, [spent.after[1]!])).toThrow(
      'names soon, which was not read',
    );
  });

  test('a debit that overdrew gives back what came from blocks', () => {
    const wallet = walletOf('30');
    const manual = debitWallet(
      wallet,
      blocks,
      debit('50', { transaction_reason: 'MANUAL_BALANCE_DEBIT' }),
      NOW,
    );
    const decision = reverseDebit(
      manual.wallet,
      { open: [], consumed: manual.blocks },
      manual.rows[0]!,
      counter(),
      NOW,
    );
    expect(decision.wallet.credit_balance).toBe('10');
    expect(left(decision.blocks)).toBe('soon:0 never:10');
  });
});
