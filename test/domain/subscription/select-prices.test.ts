import {
  isCompatible,
  selectPlanPrices,
  type SelectablePrice,
} from '../../../domain/subscription/select-prices.ts';

const START = '2026-03-01T00:00:00.000Z';
const cadence = (text: string) => {
  const [billing_period, count] = text.split(' x');
  return { billing_period, billing_period_count: Number(count ?? 1) } as Parameters<
    typeof isCompatible
  >[0];
};
const price = (id: string, period: string, more: Partial<SelectablePrice> = {}) => ({
  id,
  parent_price_id: id,
  currency: 'usd',
  start_date: null,
  end_date: null,
  ...cadence(period),
  ...more,
});

describe('which prices a subscription can have (billing 3.2)', () => {
  test.each`
    price            | subscription     | fits
    ${'MONTHLY'}     | ${'QUARTERLY'}   | ${true}
    ${'MONTHLY x3'}  | ${'QUARTERLY'}   | ${true}
    ${'MONTHLY x2'}  | ${'QUARTERLY'}   | ${false}
    ${'QUARTERLY'}   | ${'ANNUAL'}      | ${true}
    ${'HALF_YEARLY'} | ${'MONTHLY x12'} | ${true}
    ${'QUARTERLY'}   | ${'MONTHLY'}     | ${false}
    ${'WEEKLY'}      | ${'WEEKLY x2'}   | ${false}
    ${'WEEKLY x2'}   | ${'WEEKLY x2'}   | ${true}
    ${'DAILY'}       | ${'MONTHLY'}     | ${false}
    ${'ONETIME'}     | ${'DAILY'}       | ${true}
  `('$price on $subscription: $fits', ({ price, subscription, fits }) => {
    expect(isCompatible(cadence(price), cadence(subscription))).toBe(fits);
  });
});

describe('the prices that a new subscription takes', () => {
  const plan = [
    price('quarter', 'QUARTERLY'),
    price('three_months', 'MONTHLY x3'),
    price('month', 'MONTHLY'),
    price('once', 'ONETIME'),
    price('euro', 'QUARTERLY', { currency: 'eur' }),
    price('ended', 'QUARTERLY', { end_date: START }),
    price('ends_later', 'QUARTERLY', { end_date: '2026-03-01T00:00:00.001Z' }),
    price('begins_later', 'QUARTERLY', { start_date: '2027-01-01T00:00:00.000Z' }),
  ];
  const select = (more: object = {}) =>
    selectPlanPrices(
      plan,
      {
        currency: 'usd',
        cadence: cadence('QUARTERLY'),
        start: START,
        end: null,
        include_price_ids: null,
        ...more,
      },
      START,
    ).map(({ id }) => id);

  test('without a list: as long as the period, and one-time ones', () => {
    expect(select()).toEqual(['quarter', 'three_months', 'once', 'ends_later', 'begins_later']);
  });
  test('a subscription that ends before a price begins leaves it out', () => {
    expect(select({ end: '2027-01-01T00:00:00.000Z' })).not.toContain('begins_later');
  });
  test('a list selects what it names, in the order of the plan, shorter ones too', () => {
    expect(select({ include_price_ids: ['month', 'quarter'] })).toEqual(['quarter', 'month']);
  });
  test('a back-dated subscription takes replaced versions, and no price that was deleted', () => {
    const [ended, asked] = ['2026-04-01T00:00:00.000Z', '2026-05-01T00:00:00.000Z'];
    const lineage = { parent_price_id: 'v1' };
    const prices = [
      price('v1', 'MONTHLY', { ...lineage, end_date: ended }),
      price('v2', 'MONTHLY', { ...lineage, start_date: ended }),
      price('deleted', 'MONTHLY', { end_date: ended }),
      price('ends_later', 'MONTHLY', { end_date: '2026-05-01T00:00:00.001Z' }),
    ];
    const named = (include_price_ids: string[] | null) =>
      selectPlanPrices(
        prices,
        {
          currency: 'usd',
          cadence: cadence('MONTHLY'),
          start: START,
          end: null,
          include_price_ids,
        },
        asked,
      ).map(({ id }) => id);
    expect(named(null)).toEqual(['v1', 'v2', 'ends_later']);
    expect(() => named(['deleted'])).toThrow('include_price_ids[0]');
  });
  test('an empty list selects none', () => expect(select({ include_price_ids: [] })).toEqual([]));
  test.each(['unknown', 'ended', 'euro'])('a list that names %s is refused', (id) => {
    expect(() => select({ include_price_ids: ['quarter', id] })).toThrow(
      expect.objectContaining({
        code: 'validation_error',
        details: [expect.objectContaining({ path: 'include_price_ids[1]' })],
      }),
    );
  });
  test('no price that matches is refused', () => {
    expect(() => select({ currency: 'jpy' })).toThrow(
      expect.objectContaining({
        kind: 'invalid',
        details: [expect.objectContaining({ code: 'no_matching_prices' })],
      }),
    );
  });
});
