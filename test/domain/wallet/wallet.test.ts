import { WALLET_STATUSES } from '../../../schemas/words.ts';
import { decimal } from '../../../domain/money.ts';
import {
  creditRow,
  creditsWorth,
  creditWallet,
  debitWallet,
  overdraft,
  withCreditBalance,
} from '../../../domain/wallet/wallet.ts';
import { refusalOf, refusalText } from '../../support/refusal.ts';
import { block, credit, debit, left, NOW, walletOf } from './wallet-input.ts';

describe('balance = credits × conversion rate, always (money 2.2.4)', () => {
  test.each`
    credits                   | rate                      | balance
    ${'0'}                    | ${'2'}                    | ${'0'}
    ${'100'}                  | ${'2'}                    | ${'200'}
    ${'100'}                  | ${'1.123456'}             | ${'112.3456'}
    ${'-50'}                  | ${'0.5'}                  | ${'-25'}
    ${'1000'}                 | ${'0.01'}                 | ${'10'}
    ${'0.333333333333333333'} | ${'0.333333333333333333'} | ${'0.111111111111111111'}
  `('$credits at $rate are $balance', ({ credits, rate, balance }) => {
    const wallet = withCreditBalance(walletOf('0', { conversion_rate: rate }), decimal(credits));
    expect([wallet.credit_balance, wallet.balance]).toEqual([credits, balance]);
  });

  test('example A: bought at 0.008, worth 0.01', () => {
    const wallet = walletOf('0', { conversion_rate: '0.01', topup_conversion_rate: '0.008' });
    const bought = creditWallet(wallet, [], credit('1000'), NOW);
    expect(bought.rows[0]!.amount).toBe('8');
    expect(bought.wallet.balance).toBe('10');
    const spent = debitWallet(bought.wallet, bought.blocks, debit('250'), NOW);
    expect(spent.rows[0]!.amount).toBe('2.5');
    expect(spent.wallet.balance).toBe('7.5');
  });
});

describe('a credit', () => {
  test('is a row, a block and a higher balance', () => {
    const wallet = walletOf('5', { topup_conversion_rate: '2' });
    const decision = creditWallet(
      wallet,
      [block('old', '5')],
      credit('10', {
        priority: 3,
        expiry_date: '2027-01-01T00:00:00.000Z',
        parent_transaction_id: 'parent',
        transaction_reason: 'PURCHASED_CREDIT_DIRECT',
      }),
      NOW,
    );
    expect(decision.rows).toEqual([
      {
        id: 'wtxn_new',
        wallet_id: 'wallet_1',
        type: 'credit',
        transaction_status: 'completed',
        transaction_reason: 'PURCHASED_CREDIT_DIRECT',
        credit_amount: '10',
        amount: '20',
        currency: 'usd',
        credit_balance_before: '5',
        credit_balance_after: '15',
        credits_available: '10',
        conversion_rate: null,
        topup_conversion_rate: '2',
        priority: 3,
        expiry_date: '2027-01-01T00:00:00.000Z',
        parent_transaction_id: 'parent',
        consumption_breakdown: [],
      },
    ]);
    expect(decision.blocks).toEqual([
      {
        id: 'wtxn_new',
        transaction_reason: 'PURCHASED_CREDIT_DIRECT',
        credits_available: '10',
        priority: 3,
        expiry_date: '2027-01-01T00:00:00.000Z',
        created_at: NOW,
      },
    ]);
    expect(decision.wallet.credit_balance).toBe('15');
  });

  test('takes the money that is known better than credits × rate', () => {
    const third = { topup_conversion_rate: '3' };
    const [row] = creditWallet(
      walletOf('0', third),
      [],
      credit('3.333333333333333333', { amount: decimal('10') }),
      NOW,
    ).rows;
    expect(row!.amount).toBe('10');
  });

  test.each`
    why                         | balance     | credits  | after     | available
    ${'nothing owed'}           | ${'0'}      | ${'10'}  | ${'10'}   | ${'10'}
    ${'more than the debt'}     | ${'-30'}    | ${'100'} | ${'70'}   | ${'70'}
    ${'less than the debt'}     | ${'-30'}    | ${'20'}  | ${'-10'}  | ${'0'}
    ${'exactly the debt'}       | ${'-30'}    | ${'30'}  | ${'0'}    | ${'0'}
    ${'observed: 40 on −31.75'} | ${'-31.75'} | ${'40'}  | ${'8.25'} | ${'8.25'}
  `('example B, $why: $available available', ({ balance, credits, after, available }) => {
    const [row] = creditWallet(walletOf(balance), [], credit(credits), NOW).rows;
    expect([row!.credit_balance_after, row!.credits_available]).toEqual([after, available]);
  });

  test('fills a debt beside held credits', () => {
    // 5 are held for a late invoice, a manual debit overdrew by 2: the balance is 3.
    const held = block('held', '5', { expiry_date: '2026-02-28T00:00:00.000Z' });
    const [row] = creditWallet(walletOf('3'), [held], credit('10'), NOW).rows;
    expect([row!.credit_balance_after, row!.credits_available]).toEqual(['13', '8']);
  });

  test.each(['0', '-1'])('of %s is refused', (credits) => {
    expect(refusalText(() => creditWallet(walletOf('0'), [], credit(credits), NOW))).toBe(
      'invalid validation_error credits',
    );
  });

  test.each(WALLET_STATUSES)('to a wallet that is %s', (wallet_status) => {
    const attempt = () => creditWallet(walletOf('0', { wallet_status }), [], credit('1'), NOW);
    if (wallet_status === 'closed') {
      expect(refusalText(attempt)).toBe('invalid invalid_operation wallet_status');
    } else expect(attempt().wallet.credit_balance).toBe('1');
  });
});

describe('a debit', () => {
  const blocks = [
    block('free', '10', { priority: 1 }),
    block('bought', '20', { transaction_reason: 'PURCHASED_CREDIT_DIRECT' }),
  ];

  test('is a row that names the source of its credits', () => {
    const decision = debitWallet(
      walletOf('30', { conversion_rate: '2' }),
      blocks,
      debit('15'),
      NOW,
    );
    expect(decision.rows).toEqual([
      {
        id: 'wtxn_new',
        wallet_id: 'wallet_1',
        type: 'debit',
        transaction_status: 'completed',
        transaction_reason: 'INVOICE_PAYMENT',
        credit_amount: '15',
        amount: '30',
        currency: 'usd',
        credit_balance_before: '30',
        credit_balance_after: '15',
        credits_available: '0',
        conversion_rate: '2',
        topup_conversion_rate: null,
        priority: null,
        expiry_date: null,
        parent_transaction_id: null,
        consumption_breakdown: [
          { credit_transaction_id: 'free', credits: '10' },
          { credit_transaction_id: 'bought', credits: '5' },
        ],
      },
    ]);
    expect(left(decision.blocks)).toBe('free:0 bought:15');
    expect([decision.wallet.credit_balance, decision.wallet.balance]).toEqual(['15', '30']);
  });

  test('only changed blocks are returned', () => {
    expect(left(debitWallet(walletOf('30'), blocks, debit('3'), NOW).blocks)).toBe('free:7');
  });

  test('takes the money that is known better than credits × rate', () => {
    const [row] = debitWallet(
      walletOf('10', { conversion_rate: '3' }),
      [block('a', '10')],
      debit('3.333333333333333333', { amount: decimal('10') }),
      NOW,
    ).rows;
    expect(row!.amount).toBe('10');
  });

  test.each(['INVOICE_PAYMENT', 'CREDIT_ADJUSTMENT'] as const)(
    '%s is all or nothing',
    (transaction_reason) => {
      const attempt = (credits: string) =>
        debitWallet(walletOf('30'), blocks, debit(credits, { transaction_reason }), NOW);
      expect(attempt('30').wallet.credit_balance).toBe('0');
      const refusal = refusalOf(() => attempt('30.01'));
      expect([refusal.kind, refusal.code]).toEqual(['invalid', 'invalid_operation']);
      expect(refusal.message).toBe('insufficient balance: 30 of 30.01 credits are available');
      expect(refusal.details[0]).toMatchObject({ path: 'credits', code: 'insufficient_balance' });
    },
  );

  test('what has expired is not there, though the balance counts it until the sweep', () => {
    const dead = block('dead', '10', { expiry_date: '2026-02-01T00:00:00.000Z' });
    expect(refusalOf(() => debitWallet(walletOf('10'), [dead], debit('1'), NOW)).message).toContain(
      'insufficient balance: 0 of 1',
    );
  });

  test('an invoice for the period in which the block lived may still use it', () => {
    const dead = block('dead', '10', { expiry_date: '2026-02-28T00:00:00.000Z' });
    const late = debit('4', {
      transaction_reason: 'CREDIT_ADJUSTMENT',
      arrears_period_end: '2026-02-28T00:00:00.000Z',
    });
    expect(left(debitWallet(walletOf('10'), [dead], late, NOW).blocks)).toBe('dead:6');
  });

  test.each(['0', '-1'])('of %s is refused', (credits) => {
    expect(refusalText(() => debitWallet(walletOf('30'), blocks, debit(credits), NOW))).toBe(
      'invalid validation_error credits',
    );
  });

  test.each(WALLET_STATUSES)('of a wallet that is %s', (wallet_status) => {
    const attempt = () => debitWallet(walletOf('30', { wallet_status }), blocks, debit('1'), NOW);
    if (wallet_status === 'active') expect(attempt().wallet.credit_balance).toBe('29');
    else expect(refusalText(attempt)).toBe('invalid invalid_operation wallet_status');
  });
});

describe('a manual debit may go below zero (money 2.4)', () => {
  const manual = { transaction_reason: 'MANUAL_BALANCE_DEBIT' } as const;

  test.each`
    credits  | after    | breakdown
    ${'30'}  | ${'70'}  | ${'30'}
    ${'100'} | ${'0'}   | ${'100'}
    ${'150'} | ${'-50'} | ${'100'}
  `('$credits of 100 leave $after', ({ credits, after, breakdown }) => {
    const decision = debitWallet(walletOf('100'), [block('a', '100')], debit(credits, manual), NOW);
    expect(decision.wallet.credit_balance).toBe(after);
    expect(decision.rows[0]!.consumption_breakdown).toEqual([
      { credit_transaction_id: 'a', credits: breakdown },
    ]);
  });

  test('of an overdrawn wallet takes from nowhere', () => {
    const decision = debitWallet(walletOf('-5'), [], debit('5', manual), NOW);
    expect(decision.wallet.credit_balance).toBe('-10');
    expect(decision.rows[0]!.consumption_breakdown).toEqual([]);
    expect(decision.blocks).toEqual([]);
  });

  test('does not touch held credits', () => {
    const held = block('held', '5', { expiry_date: '2026-02-28T00:00:00.000Z' });
    const decision = debitWallet(walletOf('5'), [held], debit('2', manual), NOW);
    expect(decision.blocks).toEqual([]);
    expect(overdraft(decision.wallet, [held]).toFixed()).toBe('2');
  });
});

describe('the overdraft', () => {
  test.each`
    balance | available | owed
    ${'10'} | ${'10'}   | ${'0'}
    ${'-5'} | ${'0'}    | ${'5'}
    ${'3'}  | ${'5'}    | ${'2'}
  `('balance $balance beside $available credits: $owed', ({ balance, available, owed }) => {
    expect(overdraft({ credit_balance: balance }, [block('a', available)]).toFixed()).toBe(owed);
  });

  test('blocks that hold less than the balance are a bug', () => {
    expect(() => overdraft({ credit_balance: '10' }, [block('a', '9')])).toThrow(
      'the blocks hold 1 less',
    );
  });
});

test('a row that waits moves nothing and has nothing available (money 2.3.4)', () => {
  expect(creditRow(walletOf('7'), credit('10'))).toMatchObject({
    transaction_status: 'pending',
    credit_amount: '10',
    credits_available: '0',
    credit_balance_before: '7',
    credit_balance_after: '7',
  });
});

describe('credits that are worth an amount (money 9.13, 10.9)', () => {
  test.each`
    amount  | rate      | credits
    ${'20'} | ${'0.5'}  | ${'40'}
    ${'10'} | ${'0.01'} | ${'1000'}
    ${'10'} | ${'3'}    | ${'3.333333333333333333'}
    ${'35'} | ${'0.5'}  | ${'70'}
  `('$amount at $rate are $credits', ({ amount, rate, credits }) => {
    const wallet = walletOf('0', { conversion_rate: rate, topup_conversion_rate: '0.25' });
    expect(creditsWorth(wallet, decimal(amount)).toFixed()).toBe(credits);
  });
});
