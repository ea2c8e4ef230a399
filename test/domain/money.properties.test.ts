import fc from 'fast-check';
import { BillingError } from '../../domain/errors.ts';
import {
  Decimal,
  decimal,
  decimalText,
  isStorable,
  parseDecimal,
  roundToStorage,
  sum,
} from '../../domain/money.ts';
import { property } from '../support/properties.ts';

const units = fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n });
const digits = fc.integer({ min: 0, max: 18 });

/** Plain text of units × 10^-digits, by moving the point. */
function plain(value: bigint, decimals: number): string {
  const magnitude = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const cut = magnitude.length - decimals;
  const text = decimals === 0 ? magnitude : `${magnitude.slice(0, cut)}.${magnitude.slice(cut)}`;
  return value < 0n ? `-${text}` : text;
}
const canonical = (text: string) => {
  const trimmed = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  return trimmed === '-0' ? '0' : trimmed;
};

describe('decimals', () => {
  property(
    'text goes in and out without loss, up to what a numeric(38,18) holds',
    fc.property(units, digits, (value, decimals) => {
      const text = plain(value, decimals);
      expect(decimalText(decimal(text))).toBe(canonical(text));
      const whole = text
        .replace('-', '')
        .split('.')[0]!
        .replace(/^0+(?=\d)/, '');
      expect(isStorable(decimal(text))).toBe(whole.length <= 20);
      if (whole.length <= 20) {
        expect(decimalText(parseDecimal(` ${text}`, 'amount'))).toBe(canonical(text));
      } else expect(() => parseDecimal(text, 'amount')).toThrow(BillingError);
    }),
    { quick: 500, deep: 30_000 },
  );

  property(
    'sums and differences of what is stored are exact',
    fc.property(
      fc.array(fc.bigInt({ min: -(10n ** 36n), max: 10n ** 36n }), { maxLength: 20 }),
      digits,
      (list, decimals) => {
        const total = list.reduce((left, right) => left + right, 0n);
        const values = list.map((value) => decimal(plain(value, decimals)));
        expect(decimalText(sum(values))).toBe(canonical(plain(total, decimals)));
        expect(sum([...values, ...values.map((value) => value.neg())]).isZero()).toBe(true);
      },
    ),
    { quick: 300, deep: 20_000 },
  );

  property(
    'storage rounds a product half away from zero, by integers',
    fc.property(
      fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }),
      fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }),
      (left, right) => {
        const product = decimal(plain(left, 18)).times(decimal(plain(right, 18)));
        const exact = left * right;
        const magnitude = exact < 0n ? -exact : exact;
        const rounded = (2n * magnitude + 10n ** 18n) / (2n * 10n ** 18n);
        expect(decimalText(roundToStorage(product))).toBe(
          canonical(plain(exact < 0n ? -rounded : rounded, 18)),
        );
      },
    ),
    { quick: 300, deep: 20_000 },
  );

  property(
    'a JSON number is taken only when it says what was written',
    fc.property(fc.double({ noDefaultInfinity: true, noNaN: true }), (value) => {
      const significant = new Decimal(value).precision();
      const fits = isStorable(new Decimal(value));
      if (significant <= 15 && fits) {
        expect(parseDecimal(value, 'amount').toNumber()).toBe(value === 0 ? 0 : value);
      } else expect(() => parseDecimal(value, 'amount')).toThrow(BillingError);
    }),
    { quick: 300, deep: 20_000 },
  );
});
