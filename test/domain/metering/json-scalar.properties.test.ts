import fc from 'fast-check';
import { numericText } from '../../../domain/json-scalar.ts';
import { property } from '../../support/properties.ts';

const digits = (most: number) => fc.stringMatching(new RegExp(`^\\d{1,${most}}$`));

/** Canonical text by string surgery, independent of any decimal library. */
function trimmed(sign: string, integer: string, decimals: string): string {
  const whole = integer.replace(/^0+(?=\d)/, '');
  const fraction = decimals.replace(/0+$/, '');
  const text = fraction === '' ? whole : `${whole}.${fraction}`;
  return text === '0' ? '0' : `${sign}${text}`;
}

describe('numericText', () => {
  property(
    'is the text without useless zeros, or nothing beyond 20 and 18 digits',
    fc.property(
      fc.constantFrom('', '-'),
      digits(24),
      fc.oneof(fc.constant(''), digits(24)),
      (sign, integer, decimals) => {
        const text = decimals === '' ? `${sign}${integer}` : `${sign}${integer}.${decimals}`;
        const expected = trimmed(sign, integer, decimals);
        const [whole = '', fraction = ''] = expected.replace('-', '').split('.');
        const fits = whole.length <= 20 && fraction.length <= 18;
        expect(numericText(text)).toBe(fits ? expected : null);
      },
    ),
    { quick: 500, deep: 40_000 },
  );

  property(
    'a JSON number of at most 15 digits keeps the value it was written with',
    fc.property(
      fc.bigInt({ min: -(10n ** 15n) + 1n, max: 10n ** 15n - 1n }),
      fc.integer({ min: 0, max: 18 }),
      (units, decimals) => {
        const magnitude = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
        const cut = magnitude.length - decimals;
        const parts = [magnitude.slice(0, cut), magnitude.slice(cut)] as const;
        const sign = units < 0n ? '-' : '';
        const text = decimals === 0 ? `${sign}${parts[0]}` : `${sign}${parts[0]}.${parts[1]}`;
        expect(numericText(JSON.parse(text))).toBe(trimmed(sign, ...parts));
      },
    ),
    { quick: 500, deep: 40_000 },
  );
});
