import { WALLET_STATUSES } from '../../../schemas/words.ts';
import { decimal } from '../../../domain/money.ts';
import {
  cooldownMs,
  cooldownText,
  decideAutoTopUp,
  DIRECT_PAUSE_MS,
  OFF_SESSION_COOLDOWN_MS,
  validateAutoTopUp,
  type AutoTopUp,
  type TopUpHistory,
} from '../../../domain/wallet/auto-top-up.ts';
import { isoText, epochMs } from '../../../domain/time/instant.ts';
import { refusalText } from '../../support/refusal.ts';
import { NOW, walletOf } from './wallet-input.ts';

const config = (over: Partial<AutoTopUp> = {}): AutoTopUp => ({
  enabled: true,
  invoicing: true,
  threshold: '5',
  amount: '10',
  cooldown_ms: null,
  off_session: false,
  ...over,
});
const history = (over: Partial<TopUpHistory> = {}): TopUpHistory => ({
  pending: [],
  has_unpaid_auto_invoice: false,
  last_auto_top_up_at: null,
  ...over,
});
const ago = (ms: number) => isoText(epochMs(NOW) - ms);
const decide = (
  over: Partial<AutoTopUp> = {},
  past: Partial<TopUpHistory> = {},
  credits = '3',
  wallet_status: (typeof WALLET_STATUSES)[number] = 'active',
) => {
  const decision = decideAutoTopUp(
    { wallet_status },
    config(over),
    decimal(credits),
    history(past),
    NOW,
  );
  return decision.tops_up ? `top up ${decision.credits.toFixed()}` : decision.because;
};

describe('when it fires (money 3.4)', () => {
  test.each`
    credits   | decision
    ${'3'}    | ${'top up 10'}
    ${'5'}    | ${'top up 10'}
    ${'5.01'} | ${'above_threshold'}
    ${'-100'} | ${'top up 10'}
  `('at $credits credits with a threshold of 5: $decision', ({ credits, decision }) => {
    expect(decide({}, {}, credits)).toBe(decision);
  });

  test.each`
    why                                        | over                    | past                                                                                               | decision
    ${'switched off'}                          | ${{ enabled: false }}   | ${{}}                                                                                              | ${'disabled'}
    ${'an automatic one is pending'}           | ${{}}                   | ${{ pending: [{ credit_amount: '1', is_auto: true }] }}                                            | ${'pending_auto_top_up'}
    ${'its invoice is unpaid'}                 | ${{}}                   | ${{ has_unpaid_auto_invoice: true }}                                                               | ${'unpaid_invoice'}
    ${'an unpaid one of before, now direct'}   | ${{ invoicing: false }} | ${{ has_unpaid_auto_invoice: true }}                                                               | ${'top up 10'}
    ${'pending purchases suffice'}             | ${{}}                   | ${{ pending: [{ credit_amount: '2.01', is_auto: false }] }}                                        | ${'pending_credits_suffice'}
    ${'pending purchases reach the threshold'} | ${{}}                   | ${{ pending: [{ credit_amount: '2', is_auto: false }] }}                                           | ${'top up 10'}
    ${'several of them'}                       | ${{}}                   | ${{ pending: [{ credit_amount: '2', is_auto: false }, { credit_amount: '0.5', is_auto: false }] }} | ${'pending_credits_suffice'}
  `('$why: $decision', ({ over, past, decision }) => {
    expect(decide(over, past)).toBe(decision);
  });

  test.each(WALLET_STATUSES)('wallet %s', (status) => {
    expect(decide({}, {}, '3', status)).toBe(
      status === 'active' ? 'top up 10' : 'wallet_not_active',
    );
  });

  test('says how it collects', () => {
    const direct = decideAutoTopUp(
      { wallet_status: 'active' },
      config({ invoicing: false }),
      decimal('1'),
      history(),
      NOW,
    );
    expect(direct).toMatchObject({ tops_up: true, invoicing: false });
  });
});

describe('cooldown (money 3.6 to 3.8)', () => {
  test.each`
    why                                  | over                                     | since                          | decision
    ${'none for invoices'}               | ${{}}                                    | ${0}                           | ${'top up 10'}
    ${'a minute between direct ones'}    | ${{ invoicing: false }}                  | ${DIRECT_PAUSE_MS - 1}         | ${'cooldown'}
    ${'a minute is over'}                | ${{ invoicing: false }}                  | ${DIRECT_PAUSE_MS}             | ${'top up 10'}
    ${'an hour off session'}             | ${{ off_session: true }}                 | ${OFF_SESSION_COOLDOWN_MS - 1} | ${'cooldown'}
    ${'the hour is over'}                | ${{ off_session: true }}                 | ${OFF_SESSION_COOLDOWN_MS}     | ${'top up 10'}
    ${'as configured'}                   | ${{ cooldown_ms: 1000 }}                 | ${999}                         | ${'cooldown'}
    ${'as configured, over'}             | ${{ cooldown_ms: 1000 }}                 | ${1000}                        | ${'top up 10'}
    ${'none as configured, direct'}      | ${{ invoicing: false, cooldown_ms: 0 }}  | ${0}                           | ${'top up 10'}
    ${'none as configured, off session'} | ${{ off_session: true, cooldown_ms: 0 }} | ${0}                           | ${'top up 10'}
  `('$why: $decision', ({ over, since, decision }) => {
    expect(decide(over, { last_auto_top_up_at: ago(since) })).toBe(decision);
  });

  test('the first one waits for nothing', () => {
    expect(decide({ cooldown_ms: 86_400_000 })).toBe('top up 10');
  });

  test('the pauses', () => {
    expect([DIRECT_PAUSE_MS, OFF_SESSION_COOLDOWN_MS]).toEqual([60_000, 3_600_000]);
  });
});

describe('configuration (money 3.2)', () => {
  const limits = {
    free_credit_limit_per_transaction: '0',
    min_topup_amount_per_currency: { usd: '1' },
  };
  const validate = (over: Partial<AutoTopUp>, rate = '1') =>
    validateAutoTopUp(walletOf('0', { topup_conversion_rate: rate }), config(over), limits);

  test.each`
    over                  | rate
    ${{}}                 | ${'1'}
    ${{ threshold: '0' }} | ${'1'}
    ${{ amount: '1' }}    | ${'1'}
    ${{ amount: '100' }}  | ${'0.01'}
  `('accepted: $over at $rate', ({ over, rate }) => {
    expect(() => validate(over, rate)).not.toThrow();
  });
  test.each`
    path                      | over                      | rate
    ${'auto_topup.amount'}    | ${{ amount: '0' }}        | ${'1'}
    ${'auto_topup.amount'}    | ${{ amount: '-1' }}       | ${'1'}
    ${'auto_topup.threshold'} | ${{ threshold: '-0.01' }} | ${'1'}
    ${'amount'}               | ${{ amount: '0.99' }}     | ${'1'}
    ${'amount'}               | ${{ amount: '99' }}       | ${'0.01'}
  `('refused: $path of $over at $rate', ({ path, over, rate }) => {
    expect(refusalText(() => validate(over, rate))).toBe(`invalid validation_error ${path}`);
  });
});

describe('how a cooldown is written (money 3.1)', () => {
  test.each`
    input                            | ms                | text
    ${'0s'}                          | ${0}              | ${'0s'}
    ${'90m'}                         | ${5_400_000}      | ${'1h30m'}
    ${'1h'}                          | ${3_600_000}      | ${'1h'}
    ${'24h'}                         | ${86_400_000}     | ${'1d'}
    ${'1d2h3m4s'}                    | ${93_784_000}     | ${'1d2h3m4s'}
    ${'45s'}                         | ${45_000}         | ${'45s'}
    ${' 5m '}                        | ${300_000}        | ${'5m'}
    ${'PT90M'}                       | ${5_400_000}      | ${'1h30m'}
    ${'P1D'}                         | ${86_400_000}     | ${'1d'}
    ${'P1W'}                         | ${604_800_000}    | ${'7d'}
    ${'PT0S'}                        | ${0}              | ${'0s'}
    ${{ value: 0, unit: 'DAY' }}     | ${0}              | ${'0s'}
    ${{ value: 90, unit: 'SECOND' }} | ${90_000}         | ${'1m30s'}
    ${{ value: 2, unit: 'MINUTE' }}  | ${120_000}        | ${'2m'}
    ${{ value: 3, unit: 'HOUR' }}    | ${10_800_000}     | ${'3h'}
    ${{ value: 366, unit: 'DAY' }}   | ${31_622_400_000} | ${'366d'}
  `('$input is $ms ms, answered as $text', ({ input, ms, text }) => {
    expect(cooldownMs(input)).toBe(ms);
    expect(cooldownText(ms)).toBe(text);
    expect(cooldownMs(text)).toBe(ms);
  });

  test.each([
    '',
    ' ',
    'h',
    '1',
    '1x',
    '-1h',
    '1.5h',
    '1s1m',
    'P1Y',
    'P1M',
    '-PT1M',
    'PT',
    '367d',
    { value: -1, unit: 'DAY' },
    { value: 1.5, unit: 'DAY' },
    { value: 1, unit: 'WEEK' },
    { value: 1, unit: 'toString' },
    { value: Number.NaN, unit: 'DAY' },
    { value: 367, unit: 'DAY' },
  ])('%j is refused', (input) => {
    expect(refusalText(() => cooldownMs(input as string))).toBe(
      'invalid validation_error auto_topup.cooldown',
    );
  });
});
