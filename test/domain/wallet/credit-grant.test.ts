import { CREDIT_GRANT_EXPIRATION_UNITS, CREDIT_GRANT_PERIODS } from '../../../schemas/words.ts';
import {
  assertSameRates,
  assertWalletAccepts,
  validateGrant,
  type CreditGrant,
} from '../../../domain/wallet/credit-grant.ts';
import { refusalOf, refusalText } from '../../support/refusal.ts';

const template: CreditGrant = {
  scope: 'PLAN',
  credits: '100',
  cadence: 'ONETIME',
  period: null,
  period_count: null,
  expiration_type: 'NEVER',
  expiration_duration: null,
  expiration_duration_unit: null,
  priority: null,
  conversion_rate: null,
  topup_conversion_rate: null,
  start_date: null,
  end_date: null,
  credit_grant_anchor: null,
};
const monthly = { cadence: 'RECURRING', period: 'MONTHLY', period_count: 1 } as const;
const running = { scope: 'SUBSCRIPTION', start_date: '2026-02-01T00:00:00.000Z' } as const;
const subscription = {
  start_date: '2026-01-01T00:00:00.000Z',
  end_date: '2027-01-01T00:00:00.000Z',
};
const lasting = { expiration_type: 'DURATION', expiration_duration: 1 } as const;

describe('a template (money 5.1)', () => {
  test.each`
    why                 | over
    ${'as it is'}       | ${{}}
    ${'of an addon'}    | ${{ scope: 'ADDON' }}
    ${'a small amount'} | ${{ credits: '0.000001' }}
    ${'recurring'}      | ${monthly}
    ${'every 7 months'} | ${{ ...monthly, period_count: 7 }}
    ${'with a cycle'}   | ${{ expiration_type: 'BILLING_CYCLE' }}
    ${'with priority'}  | ${{ priority: 0 }}
    ${'with rates'}     | ${{ conversion_rate: '0.01', topup_conversion_rate: '0.008' }}
  `('accepted: $why', ({ over }) => {
    expect(() => validateGrant({ ...template, ...over }, null)).not.toThrow();
  });

  test.each(CREDIT_GRANT_PERIODS)('accepted: period %s', (period) => {
    expect(() => validateGrant({ ...template, ...monthly, period }, null)).not.toThrow();
  });
  test.each(CREDIT_GRANT_EXPIRATION_UNITS)(
    'accepted: a duration in %s',
    (expiration_duration_unit) => {
      expect(() =>
        validateGrant({ ...template, ...lasting, expiration_duration_unit }, null),
      ).not.toThrow();
    },
  );

  test.each`
    path                          | over
    ${'credits'}                  | ${{ credits: '0' }}
    ${'credits'}                  | ${{ credits: '-1' }}
    ${'period'}                   | ${{ period: 'MONTHLY' }}
    ${'period_count'}             | ${{ period_count: 1 }}
    ${'period'}                   | ${{ ...monthly, period: null }}
    ${'period'}                   | ${{ ...monthly, period: 'ONETIME' }}
    ${'period_count'}             | ${{ ...monthly, period_count: null }}
    ${'period_count'}             | ${{ ...monthly, period_count: 0 }}
    ${'period_count'}             | ${{ ...monthly, period_count: 1.5 }}
    ${'expiration_duration'}      | ${{ ...lasting, expiration_duration: null, expiration_duration_unit: 'DAY' }}
    ${'expiration_duration'}      | ${{ ...lasting, expiration_duration: 0, expiration_duration_unit: 'DAY' }}
    ${'expiration_duration'}      | ${{ ...lasting, expiration_duration: 0.5, expiration_duration_unit: 'DAY' }}
    ${'expiration_duration_unit'} | ${lasting}
    ${'expiration_duration_unit'} | ${{ ...lasting, expiration_duration_unit: 'HOUR' }}
    ${'expiration_duration'}      | ${{ expiration_duration: 1 }}
    ${'expiration_duration_unit'} | ${{ expiration_type: 'BILLING_CYCLE', expiration_duration_unit: 'DAY' }}
    ${'priority'}                 | ${{ priority: -1 }}
    ${'priority'}                 | ${{ priority: 0.5 }}
    ${'conversion_rate'}          | ${{ conversion_rate: '0' }}
    ${'topup_conversion_rate'}    | ${{ topup_conversion_rate: '-1' }}
    ${'start_date'}               | ${{ start_date: '2026-01-01T00:00:00.000Z' }}
    ${'end_date'}                 | ${{ end_date: '2026-01-01T00:00:00.000Z' }}
    ${'credit_grant_anchor'}      | ${{ credit_grant_anchor: '2026-01-01T00:00:00.000Z' }}
  `('refused: $path', ({ path, over }) => {
    expect(refusalText(() => validateGrant({ ...template, ...over }, null))).toBe(
      `invalid validation_error ${path}`,
    );
  });
});

describe('a grant of a subscription', () => {
  test.each`
    why                          | over
    ${'starts inside'}           | ${{}}
    ${'starts with it'}          | ${{ start_date: '2026-01-01T00:00:00.000Z' }}
    ${'ends with it'}            | ${{ end_date: '2027-01-01T00:00:00.000Z' }}
    ${'anchor at its start'}     | ${{ credit_grant_anchor: '2026-02-01T00:00:00.000Z' }}
    ${'anchor at the end of it'} | ${{ credit_grant_anchor: '2027-01-01T00:00:00.000Z' }}
  `('accepted: $why', ({ over }) => {
    expect(() => validateGrant({ ...template, ...running, ...over }, subscription)).not.toThrow();
  });

  test.each`
    path                     | over
    ${'start_date'}          | ${{ start_date: null }}
    ${'start_date'}          | ${{ start_date: '2025-12-31T23:59:59.999Z' }}
    ${'end_date'}            | ${{ end_date: '2026-02-01T00:00:00.000Z' }}
    ${'end_date'}            | ${{ end_date: '2027-01-01T00:00:00.001Z' }}
    ${'credit_grant_anchor'} | ${{ credit_grant_anchor: '2026-01-31T23:59:59.999Z' }}
    ${'credit_grant_anchor'} | ${{ credit_grant_anchor: '2027-01-01T00:00:00.001Z' }}
  `('refused: $path', ({ path, over }) => {
    expect(
      refusalText(() => validateGrant({ ...template, ...running, ...over }, subscription)),
    ).toBe(`invalid validation_error ${path}`);
  });

  test('a subscription without an end bounds nothing', () => {
    const open = { ...subscription, end_date: null };
    const over = {
      end_date: '2099-01-01T00:00:00.000Z',
      credit_grant_anchor: '2098-01-01T00:00:00.000Z',
    };
    expect(() => validateGrant({ ...template, ...running, ...over }, open)).not.toThrow();
    expect(() => validateGrant({ ...template, ...running, ...over }, null)).not.toThrow();
  });
});

describe('rates (money 5.1.4, 5.1.5)', () => {
  const rates = (conversion_rate: string | null, topup_conversion_rate: string | null = null) => ({
    conversion_rate,
    topup_conversion_rate,
  });

  test.each`
    why              | grants
    ${'none'}        | ${[]}
    ${'one'}         | ${[rates('2')]}
    ${'equal'}       | ${[rates('2', '3'), rates('2.0', '3.00')]}
    ${'both absent'} | ${[rates(null), rates(null)]}
  `('accepted: $why', ({ grants }) => {
    expect(() => assertSameRates(grants)).not.toThrow();
  });
  test.each`
    grants                                  | path
    ${[rates('2'), rates('3')]}             | ${'credit_grants.conversion_rate'}
    ${[rates('2'), rates(null)]}            | ${'credit_grants.conversion_rate'}
    ${[rates(null), rates('1')]}            | ${'credit_grants.conversion_rate'}
    ${[rates('2', '1'), rates('2', '2')]}   | ${'credit_grants.topup_conversion_rate'}
    ${[rates('1'), rates('1'), rates('2')]} | ${'credit_grants.conversion_rate'}
  `('refused: $path', ({ grants, path }) => {
    expect(refusalText(() => assertSameRates(grants))).toBe(`invalid validation_error ${path}`);
  });

  const wallet = { conversion_rate: '2', topup_conversion_rate: '3' };
  test.each`
    of        | grant
    ${null}   | ${rates('9', '9')}
    ${wallet} | ${rates(null)}
    ${wallet} | ${rates('2.0', '3')}
    ${wallet} | ${rates('2')}
  `('a wallet takes $grant', ({ of, grant }) => {
    expect(() => assertWalletAccepts(of, grant)).not.toThrow();
  });
  test.each`
    grant              | path
    ${rates('2.1')}    | ${'credit_grants.conversion_rate'}
    ${rates('2', '2')} | ${'credit_grants.topup_conversion_rate'}
  `('a wallet with other rates than $grant refuses', ({ grant, path }) => {
    const refusal = refusalOf(() => assertWalletAccepts(wallet, grant));
    expect(refusal.details).toEqual([expect.objectContaining({ path, code: 'rate_mismatch' })]);
  });
});
