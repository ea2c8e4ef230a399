import { CREDIT_REASONS } from '../../../schemas/words.ts';
import { decimal } from '../../../domain/money.ts';
import { type CreditReason } from '../../../domain/wallet/transaction.ts';
import {
  assertFreeLimit,
  assertMinimum,
  assertRate,
  checkTopUp,
  expiryFromDateNumber,
  isPurchase,
  purchaseTrigger,
  TOP_UP_REASONS,
  type TopUpConfig,
  type TopUpRequest,
} from '../../../domain/wallet/top-up.ts';
import { refusalText } from '../../support/refusal.ts';
import { NOW, walletOf } from './wallet-input.ts';

const config: TopUpConfig = {
  free_credit_limit_per_transaction: '0',
  min_topup_amount_per_currency: { usd: '1' },
};
const request = (over: Partial<TopUpRequest> = {}): TopUpRequest => ({
  credits_to_add: decimal('100'),
  amount: null,
  transaction_reason: 'PURCHASED_CREDIT_DIRECT',
  bonus_credits_to_add: null,
  priority: null,
  expiry_date: null,
  has_checkout: false,
  idempotency_key: null,
  ...over,
});
const check = (over: Partial<TopUpRequest> = {}, wallet = {}, limits = config) => {
  const { credits, amount } = checkTopUp(walletOf('0', wallet), request(over), limits, NOW);
  return [credits.toFixed(), amount.toFixed()];
};

describe('credits and money (money 2.2.6, 2.2.7)', () => {
  test.each`
    credits  | amount   | rate       | gives                     | costs
    ${'100'} | ${null}  | ${'1'}     | ${'100'}                  | ${'100'}
    ${'100'} | ${null}  | ${'0.008'} | ${'100'}                  | ${'0.8'}
    ${null}  | ${'8'}   | ${'0.008'} | ${'1000'}                 | ${'8'}
    ${null}  | ${'10'}  | ${'3'}     | ${'3.333333333333333333'} | ${'10'}
    ${'5'}   | ${'999'} | ${'2'}     | ${'5'}                    | ${'10'}
  `(
    '$credits credits or $amount at $rate: $gives for $costs',
    ({ credits, amount, rate, gives, costs }) => {
      const over = {
        credits_to_add: credits === null ? null : decimal(credits),
        amount: amount === null ? null : decimal(amount),
      };
      const limits = { ...config, min_topup_amount_per_currency: {} };
      expect(check(over, { topup_conversion_rate: rate }, limits)).toEqual([gives, costs]);
    },
  );
});

describe('accepted', () => {
  test.each`
    why                          | over
    ${'priority 0'}              | ${{ priority: 0 }}
    ${'a millisecond to expiry'} | ${{ expiry_date: '2026-03-01T00:00:00.001Z' }}
    ${'a bonus'}                 | ${{ bonus_credits_to_add: decimal('0.01') }}
    ${'a checkout'}              | ${{ has_checkout: true, transaction_reason: 'PURCHASED_CREDIT_INVOICED' }}
    ${'a key'}                   | ${{ idempotency_key: 'mine' }}
    ${'the minimum'}             | ${{ credits_to_add: decimal('1') }}
  `('$why', ({ over }) => {
    expect(() => check(over)).not.toThrow();
  });
});

describe('refused (money 2.11.1)', () => {
  test.each`
    path                      | over
    ${'credits_to_add'}       | ${{ credits_to_add: decimal('0') }}
    ${'credits_to_add'}       | ${{ credits_to_add: decimal('-1') }}
    ${'credits_to_add'}       | ${{ credits_to_add: null }}
    ${'amount'}               | ${{ credits_to_add: null, amount: decimal('0') }}
    ${'amount'}               | ${{ credits_to_add: null, amount: decimal('-1') }}
    ${'amount'}               | ${{ credits_to_add: decimal('0.99') }}
    ${'expiry_date_utc'}      | ${{ expiry_date: NOW }}
    ${'expiry_date_utc'}      | ${{ expiry_date: '2020-01-01T00:00:00Z' }}
    ${'priority'}             | ${{ priority: -1 }}
    ${'priority'}             | ${{ priority: 1.5 }}
    ${'bonus_credits_to_add'} | ${{ bonus_credits_to_add: decimal('0') }}
    ${'bonus_credits_to_add'} | ${{ bonus_credits_to_add: decimal('-1') }}
    ${'bonus_credits_to_add'} | ${{ bonus_credits_to_add: decimal('1'), transaction_reason: 'FREE_CREDIT_GRANT' }}
    ${'checkout'}             | ${{ has_checkout: true }}
    ${'checkout'}             | ${{ has_checkout: true, transaction_reason: 'FREE_CREDIT_GRANT' }}
    ${'idempotency_key'}      | ${{ idempotency_key: 'system:expiry:wtxn_1' }}
  `('$path', ({ path, over }) => {
    expect(refusalText(() => check(over))).toBe(`invalid validation_error ${path}`);
  });

  test('on a closed wallet', () => {
    expect(refusalText(() => check({}, { wallet_status: 'closed' }))).toBe(
      'invalid invalid_operation wallet_status',
    );
  });
});

describe('limits of the tenant (interface, limits)', () => {
  test.each`
    amount    | currency | refused
    ${'1'}    | ${'usd'} | ${false}
    ${'0.99'} | ${'usd'} | ${true}
    ${'0.99'} | ${'USD'} | ${true}
    ${'0.01'} | ${'eur'} | ${false}
  `('a purchase of $amount $currency, refused: $refused', ({ amount, currency, refused }) => {
    const attempt = () => assertMinimum(decimal(amount), currency, config);
    if (refused) expect(refusalText(attempt)).toBe('invalid validation_error amount');
    else expect(attempt).not.toThrow();
  });

  test('the minimum is about money, and about purchases', () => {
    expect(
      refusalText(() =>
        check({ credits_to_add: decimal('100') }, { topup_conversion_rate: '0.0099' }),
      ),
    ).toBe('invalid validation_error amount');
    expect(
      check({ credits_to_add: decimal('0.5'), transaction_reason: 'FREE_CREDIT_GRANT' }),
    ).toEqual(['0.5', '0.5']);
  });

  test.each`
    limit    | credits     | refused
    ${'0'}   | ${'999999'} | ${false}
    ${'100'} | ${'100'}    | ${false}
    ${'100'} | ${'100.01'} | ${true}
  `(
    '$credits free credits with a limit of $limit, refused: $refused',
    ({ limit, credits, refused }) => {
      const limited = { ...config, free_credit_limit_per_transaction: limit };
      const attempt = () => assertFreeLimit(decimal(credits), limited, 'initial_credits_to_load');
      if (refused)
        expect(refusalText(attempt)).toBe('invalid validation_error initial_credits_to_load');
      else expect(attempt).not.toThrow();
    },
  );

  test('the limit is for free credits', () => {
    const limited = { ...config, free_credit_limit_per_transaction: '10' };
    expect(refusalText(() => check({ transaction_reason: 'FREE_CREDIT_GRANT' }, {}, limited))).toBe(
      'invalid validation_error credits_to_add',
    );
    expect(check({}, {}, limited)).toEqual(['100', '100']);
    expect(check({ transaction_reason: 'SUBSCRIPTION_CREDIT_GRANT' }, {}, limited)).toEqual([
      '100',
      '100',
    ]);
  });

  test.each(['0', '-1'])('a rate of %s is refused', (rate) => {
    expect(refusalText(() => assertRate(decimal(rate), 'conversion_rate'))).toBe(
      'invalid validation_error conversion_rate',
    );
  });
  test('a small rate is not', () => {
    expect(() => assertRate(decimal('0.000001'), 'conversion_rate')).not.toThrow();
  });
});

describe('whether a purchase waits (money 2.11.4)', () => {
  test.each`
    reason                         | auto_complete | has_checkout | by_end_customer | trigger
    ${'FREE_CREDIT_GRANT'}         | ${false}      | ${false}     | ${false}        | ${'record'}
    ${'FREE_CREDIT_GRANT'}         | ${false}      | ${false}     | ${true}         | ${'record'}
    ${'SUBSCRIPTION_CREDIT_GRANT'} | ${false}      | ${false}     | ${true}         | ${'record'}
    ${'PURCHASED_CREDIT_DIRECT'}   | ${false}      | ${false}     | ${false}        | ${'record'}
    ${'PURCHASED_CREDIT_DIRECT'}   | ${true}       | ${false}     | ${true}         | ${'request'}
    ${'PURCHASED_CREDIT_INVOICED'} | ${false}      | ${false}     | ${false}        | ${'request'}
    ${'PURCHASED_CREDIT_INVOICED'} | ${true}       | ${false}     | ${false}        | ${'record'}
    ${'PURCHASED_CREDIT_INVOICED'} | ${true}       | ${true}      | ${false}        | ${'request'}
    ${'PURCHASED_CREDIT_INVOICED'} | ${true}       | ${false}     | ${true}         | ${'request'}
  `('$reason: $trigger', ({ reason, trigger, ...options }) => {
    expect(TOP_UP_REASONS).toContain(reason);
    expect(purchaseTrigger(reason, options)).toBe(trigger);
  });

  test.each(CREDIT_REASONS)('%s is a purchase or not', (reason) => {
    expect(isPurchase(reason)).toBe(
      reason === 'PURCHASED_CREDIT_DIRECT' || reason === 'PURCHASED_CREDIT_INVOICED',
    );
  });
});

describe('expiries written as YYYYMMDD (money 2.1.9)', () => {
  test.each`
    date        | instant
    ${20250101} | ${'2025-01-01T00:00:00.000Z'}
    ${20280229} | ${'2028-02-29T00:00:00.000Z'}
    ${99991231} | ${'9999-12-31T00:00:00.000Z'}
  `('$date is $instant', ({ date, instant }) => {
    expect(expiryFromDateNumber(date)).toBe(instant);
  });
  test.each([
    0,
    2025,
    20250001,
    20251301,
    20250132,
    20250229,
    202501011,
    -20250101,
    20250101.5,
    Number.NaN,
  ])('%s is refused', (date) => {
    expect(
      refusalText(() => expiryFromDateNumber(date, 'initial_credits_to_load_expiry_date')),
    ).toBe('invalid validation_error initial_credits_to_load_expiry_date');
  });
});
