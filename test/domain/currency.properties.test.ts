import fc from 'fast-check';
import { allocate, isRounded, roundToCurrency } from '../../domain/currency.ts';
import { Decimal, sum, ZERO } from '../../domain/money.ts';
import { property } from '../support/properties.ts';

const CURRENCIES = ['jpy', 'usd', 'kwd', 'clf'] as const;
const currency = fc.constantFrom(...CURRENCIES);
const digitsOf = { jpy: 0, usd: 2, kwd: 3, clf: 4 } as const;
const units = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n });
const weightUnits = fc.oneof(
  fc.bigInt({ min: 0n, max: 20n }),
  fc.bigInt({ min: 0n, max: 10n ** 18n }),
);
const scaled = (value: bigint, digits: number) => new Decimal(`${value}e-${digits}`);

describe('allocate', () => {
  property(
    'parts are in minor units, sum to the amount, and are within one unit of their exact share',
    fc.property(
      currency,
      units,
      fc.array(weightUnits, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 0, max: 18 }),
      (code, amountUnits, list, weightDigits) => {
        const total = list.reduce((left, right) => left + right, 0n);
        fc.pre(total > 0n);
        const digits = digitsOf[code];
        const amount = scaled(amountUnits, digits);
        const parts = allocate(
          amount,
          list.map((weight) => scaled(weight, weightDigits)),
          code,
        );
        expect(sum(parts).eq(amount)).toBe(true);
        parts.forEach((part, index) => {
          expect(isRounded(part, code)).toBe(true);
          // |part - amount × weight / total| < one unit, in whole numbers.
          const partUnits = BigInt(part.times(10 ** digits).toFixed(0));
          const distance = partUnits * total - amountUnits * list[index]!;
          expect(distance < total && distance > -total).toBe(true);
        });
      },
    ),
  );

  property(
    'no part is larger than its weight when the weights are amounts that cover the whole',
    fc.property(
      currency,
      fc.array(fc.bigInt({ min: 0n, max: 500n }), { minLength: 1, maxLength: 12 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (code, list, share) => {
        const total = list.reduce((left, right) => left + right, 0n);
        const part = BigInt(Math.floor(Number(total) * share));
        const weights = list.map((weight) => scaled(weight, digitsOf[code]));
        const parts = allocate(scaled(part, digitsOf[code]), weights, code);
        parts.forEach((value, index) => {
          expect(value.gte(ZERO) && value.lte(weights[index]!)).toBe(true);
        });
      },
    ),
  );

  property(
    'a heavier line never gets less, and equal lines differ by at most one unit, the earlier first',
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 9n }),
      fc.array(fc.bigInt({ min: 1n, max: 9n }), { minLength: 2, maxLength: 10 }),
      (amountUnits, list) => {
        const weights = list.map((weight) => scaled(weight, 0));
        const parts = allocate(scaled(amountUnits, 2), weights, 'usd');
        list.forEach((weight, i) =>
          list.forEach((other, j) => {
            if (weight > other) expect(parts[i]!.gte(parts[j]!)).toBe(true);
            if (weight === other && i < j) {
              const step = parts[i]!.minus(parts[j]!).times(100).toNumber();
              expect([0, 1]).toContain(step);
            }
          }),
        );
      },
    ),
  );
});

describe('roundToCurrency', () => {
  property(
    'is the nearest amount, ties away from zero, by integer arithmetic on the digits',
    fc.property(
      currency,
      fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }),
      fc.integer({ min: 0, max: 12 }),
      (code, value, extra) => {
        const digits = digitsOf[code];
        const step = 10n ** BigInt(extra);
        const magnitude = value < 0n ? -value : value;
        const up = (magnitude % step) * 2n >= step ? 1n : 0n;
        const rounded = extra === 0 ? magnitude : magnitude / step + up;
        const expected = scaled(value < 0n ? -rounded : rounded, digits);
        const actual = roundToCurrency(scaled(value, digits + extra), code);
        expect(actual.eq(expected)).toBe(true);
        expect(Object.is(actual.toNumber(), -0)).toBe(false);
      },
    ),
    { quick: 500, deep: 40_000 },
  );
});
