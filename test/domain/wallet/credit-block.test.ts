import { CREDIT_REASONS } from '../../../schemas/words.ts';
import { decimal } from '../../../domain/money.ts';
import {
  availableAfterOverdraft,
  availableCredits,
  creditsAvailableBreakdown,
  HOLD_LIMIT_MS,
  isSpendable,
  spendableCredits,
  takeCredits,
  takeInOrder,
} from '../../../domain/wallet/credit-block.ts';
import { inOrderOfUse } from '../../../domain/wallet/order-of-use.ts';
import { type CreditReason } from '../../../domain/wallet/transaction.ts';
import { block, left, NOW } from './wallet-input.ts';

const date = (day: string) => `2026-${day}T00:00:00.000Z`;
const taken = (breakdown: readonly { credit_transaction_id: string; credits: string }[]) =>
  breakdown
    .map(({ credit_transaction_id, credits }) => `${credit_transaction_id}:${credits}`)
    .join(' ');

describe('whether a block can be spent (money 2.5, 2.7)', () => {
  test.each`
    why                                    | expiry                        | at                            | periodEnd                     | spendable
    ${'never expires'}                     | ${null}                       | ${NOW}                        | ${null}                       | ${true}
    ${'a millisecond before its expiry'}   | ${'2026-03-01T00:00:00.001Z'} | ${NOW}                        | ${null}                       | ${true}
    ${'at its expiry it is dead'}          | ${NOW}                        | ${NOW}                        | ${null}                       | ${false}
    ${'after it'}                          | ${date('02-01')}              | ${NOW}                        | ${null}                       | ${false}
    ${'for a period that ended before it'} | ${date('02-28')}              | ${NOW}                        | ${date('02-27')}              | ${true}
    ${'for a period that ended with it'}   | ${date('02-28')}              | ${NOW}                        | ${date('02-28')}              | ${true}
    ${'for a period that ended after it'}  | ${date('02-28')}              | ${NOW}                        | ${'2026-02-28T00:00:00.001Z'} | ${false}
    ${'a millisecond inside the 72 hours'} | ${date('02-28')}              | ${'2026-03-02T23:59:59.999Z'} | ${date('02-28')}              | ${true}
    ${'72 hours after its expiry'}         | ${date('02-28')}              | ${'2026-03-03T00:00:00.000Z'} | ${date('02-28')}              | ${false}
    ${'alive, for any period'}             | ${date('04-01')}              | ${NOW}                        | ${date('05-01')}              | ${true}
  `('$why: $spendable', ({ expiry, at, periodEnd, spendable }) => {
    expect(isSpendable(block('a', '10', { expiry_date: expiry }), at, periodEnd)).toBe(spendable);
  });

  test.each(['0', '0.000000000000000000'])('nothing left (%s) cannot', (credits) => {
    expect(isSpendable(block('a', credits), NOW)).toBe(false);
  });

  test('the hold is 72 hours', () => {
    expect(HOLD_LIMIT_MS).toBe(259_200_000);
  });
});

describe('the order of use (money 2.5 step 5)', () => {
  const order = (...blocks: ReturnType<typeof block>[]) => inOrderOfUse(blocks).map(({ id }) => id);

  test('priority, the lower first, none last', () => {
    expect(
      order(
        block('none', '1'),
        block('3', '1', { priority: 3 }),
        block('0', '1', { priority: 0 }),
        block('1', '1', { priority: 1 }),
      ),
    ).toEqual(['0', '1', '3', 'none']);
  });

  test('then the sooner expiry, none last', () => {
    expect(
      order(
        block('never', '1'),
        block('june', '1', { expiry_date: date('06-01') }),
        block('may', '1', { expiry_date: date('05-01') }),
      ),
    ).toEqual(['may', 'june', 'never']);
  });

  test('then the older, then the id', () => {
    expect(
      order(
        block('c', '1', { created_at: date('01-02') }),
        block('b', '1', { created_at: date('01-01') }),
        block('a', '1', { created_at: date('01-02') }),
      ),
    ).toEqual(['b', 'a', 'c']);
  });

  test('priority beats expiry, expiry beats age', () => {
    expect(
      order(
        block('soon', '1', { priority: 2, expiry_date: date('02-20') }),
        block('old', '1', { priority: 1, expiry_date: date('03-15'), created_at: date('01-01') }),
        block('young', '1', { priority: 1, expiry_date: date('03-01'), created_at: date('02-01') }),
      ),
    ).toEqual(['young', 'old', 'soon']);
  });

  test('what came in is not reordered', () => {
    const blocks = [block('b', '1', { priority: 2 }), block('a', '1', { priority: 1 })];
    inOrderOfUse(blocks);
    expect(blocks.map(({ id }) => id)).toEqual(['b', 'a']);
  });
});

describe('taking credits', () => {
  const exampleC = [
    block('1', '50', { priority: 1, expiry_date: date('03-01'), created_at: date('01-01') }),
    block('2', '30', { priority: 1, expiry_date: date('03-01'), created_at: date('01-02') }),
    block('3', '100', { priority: 1, expiry_date: date('03-15'), created_at: date('01-03') }),
    block('4', '75', { priority: 2, expiry_date: date('02-20'), created_at: date('01-04') }),
    block('5', '200', { created_at: date('01-05') }),
  ];

  test('example C: 150 are 50 + 30 + 70', () => {
    const { breakdown, blocks, uncovered } = takeCredits(exampleC, decimal('150'), date('02-01'));
    expect(taken(breakdown)).toBe('1:50 2:30 3:70');
    expect(left(blocks)).toBe('1:0 2:0 3:30');
    expect(uncovered.toFixed()).toBe('0');
  });

  test('example D: sooner expiry first, never last', () => {
    const blocks = [
      block('A', '10'),
      block('B', '5', { expiry_date: date('06-01') }),
      block('C', '5', { expiry_date: date('05-01') }),
    ];
    expect(taken(takeCredits(blocks, decimal('12'), NOW).breakdown)).toBe('C:5 B:5 A:2');
  });

  test.each`
    credits   | breakdown       | uncovered
    ${'0'}    | ${''}           | ${'0'}
    ${'1'}    | ${'a:1'}        | ${'0'}
    ${'10'}   | ${'a:10'}       | ${'0'}
    ${'10.5'} | ${'a:10 b:0.5'} | ${'0'}
    ${'30'}   | ${'a:10 b:20'}  | ${'0'}
    ${'31'}   | ${'a:10 b:20'}  | ${'1'}
  `(
    '$credits of 10 and 20: $breakdown, $uncovered not covered',
    ({ credits, breakdown, uncovered }) => {
      const result = takeCredits(
        [block('a', '10'), block('b', '20'), block('dead', '99', { expiry_date: date('02-01') })],
        decimal(credits),
        NOW,
      );
      expect(taken(result.breakdown)).toBe(breakdown);
      expect(result.uncovered.toFixed()).toBe(uncovered);
    },
  );

  test('a late invoice takes from the block of its own period', () => {
    const blocks = [block('dead', '10', { expiry_date: date('02-28') }), block('live', '5')];
    expect(taken(takeCredits(blocks, decimal('12'), NOW, date('02-28')).breakdown)).toBe(
      'dead:10 live:2',
    );
    expect(taken(takeCredits(blocks, decimal('12'), NOW).breakdown)).toBe('live:5');
  });

  test('in the order given, regardless of the expiry', () => {
    const blocks = [
      block('b', '5', { expiry_date: date('01-01') }),
      block('empty', '0'),
      block('a', '5'),
    ];
    const result = takeInOrder(blocks, decimal('7'));
    expect(taken(result.breakdown)).toBe('b:5 a:2');
    expect(left(result.blocks)).toBe('b:0 a:3');
  });
});

describe('sums', () => {
  const blocks = [
    block('a', '10.5'),
    block('dead', '4', { expiry_date: date('02-28') }),
    block('live', '2', { expiry_date: date('05-01') }),
  ];
  test('of what can be spent, and of all', () => {
    expect(spendableCredits(blocks, NOW).toFixed()).toBe('12.5');
    expect(spendableCredits(blocks, NOW, date('02-28')).toFixed()).toBe('16.5');
    expect(availableCredits(blocks).toFixed()).toBe('16.5');
    expect(availableCredits([]).toFixed()).toBe('0');
  });
});

describe('an overdraft is filled first (money 2.4.2)', () => {
  test.each`
    overdrawn | credits  | available
    ${'0'}    | ${'100'} | ${'100'}
    ${'30'}   | ${'100'} | ${'70'}
    ${'30'}   | ${'30'}  | ${'0'}
    ${'30'}   | ${'20'}  | ${'0'}
  `('$credits on −$overdrawn leave $available', ({ overdrawn, credits, available }) => {
    expect(availableAfterOverdraft(decimal(overdrawn), decimal(credits)).toFixed()).toBe(available);
  });
});

describe('granted and bought (money 2.3.7)', () => {
  const bucket: Record<CreditReason, 'free' | 'purchased'> = {
    FREE_CREDIT_GRANT: 'free',
    SUBSCRIPTION_CREDIT_GRANT: 'free',
    PURCHASED_CREDIT_BONUS: 'free',
    PURCHASED_CREDIT_INVOICED: 'purchased',
    PURCHASED_CREDIT_DIRECT: 'purchased',
    CREDIT_NOTE: 'purchased',
    INVOICE_VOID_REFUND: 'purchased',
  };
  const reasons = CREDIT_REASONS;

  test.each(reasons)('%s', (transaction_reason) => {
    const breakdown = creditsAvailableBreakdown([block('a', '7', { transaction_reason })]);
    expect(breakdown).toEqual({
      free: bucket[transaction_reason] === 'free' ? '7' : '0',
      purchased: bucket[transaction_reason] === 'purchased' ? '7' : '0',
    });
  });

  test('every credit is in one of the two', () => {
    const blocks = reasons.map((transaction_reason, index) =>
      block(String(index), '1', { transaction_reason }),
    );
    expect(creditsAvailableBreakdown(blocks)).toEqual({ free: '3', purchased: '4' });
  });
});
