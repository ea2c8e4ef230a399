import { currencyFits } from '../../../domain/pricing/currency-fits.ts';

describe('a price fits a subscription by currency (3.2, money 12.4)', () => {
  test.each`
    price    | subscription | fallback | fits
    ${'usd'} | ${'usd'}     | ${null}  | ${true}
    ${'usd'} | ${'USD'}     | ${null}  | ${true}
    ${'USD'} | ${'usd'}     | ${null}  | ${true}
    ${'eur'} | ${'usd'}     | ${null}  | ${false}
    ${'tok'} | ${'tok'}     | ${'usd'} | ${true}
    ${'usd'} | ${'tok'}     | ${'USD'} | ${true}
    ${'eur'} | ${'tok'}     | ${'usd'} | ${false}
    ${'gem'} | ${'tok'}     | ${'usd'} | ${false}
  `('$price on $subscription, fiat $fallback: $fits', ({ price, subscription, fallback, fits }) => {
    const sub = { currency: subscription, default_currency: fallback };
    expect(currencyFits({ currency: price }, sub)).toBe(fits);
  });

  test('without a default currency only the same fits', () => {
    expect(currencyFits({ currency: 'usd' }, { currency: 'tok' })).toBe(false);
  });
});
