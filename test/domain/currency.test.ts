import {
  allocate,
  displayAmount,
  isIsoCurrency,
  isRounded,
  minorDigits,
  roundToCurrency,
  type Currency,
} from '../../domain/currency.ts';
import { Decimal, decimalText } from '../../domain/money.ts';

const amounts = (list: readonly string[]) => list.map((text) => new Decimal(text));
const texts = (list: readonly Decimal[]) => list.map(decimalText);

describe('minor digits by ISO 4217', () => {
  test.each`
    digits | codes
    ${0}   | ${'bif clp djf gnf isk jpy kmf krw pyg rwf ugx uyi vnd vuv xaf xof xpf'}
    ${3}   | ${'bhd iqd jod kwd lyd omr tnd'}
    ${4}   | ${'clf uyw'}
    ${2}   | ${'usd eur gbp inr cny huf mga mru twd lak afn all amd'}
  `('$digits: $codes', ({ digits, codes }: { digits: number; codes: string }) => {
    for (const code of codes.split(' ')) {
      expect([code, minorDigits(code)]).toEqual([code, digits]);
      expect(minorDigits(code.toUpperCase())).toBe(digits);
      expect(isIsoCurrency(code)).toBe(true);
    }
  });

  test('an unknown code and an unconfigured custom currency have 2, a configured one its own', () => {
    expect(minorDigits('zzz')).toBe(2);
    expect(isIsoCurrency('zzz')).toBe(false);
    expect(isIsoCurrency('tok')).toBe(false);
    expect(isIsoCurrency('USD')).toBe(true);
    expect(minorDigits({ code: 'tok', symbol: 'T' })).toBe(2);
    expect(minorDigits({ code: 'tok', symbol: 'T', precision: null })).toBe(2);
    expect(minorDigits({ code: 'tok', symbol: 'T', precision: 0 })).toBe(0);
    expect(minorDigits({ code: 'tok', symbol: 'T', precision: 18 })).toBe(18);
  });

  test.each([-1, 19, 1.5, Number.NaN])('a custom precision of %d is a bug', (precision) => {
    expect(() => minorDigits({ code: 'tok', symbol: 'T', precision })).toThrow('precision');
  });

  test("the runtime's own table agrees, but for currencies whose cents are out of daily use", () => {
    // ICU follows CLDR, which drops unused cents (huf, pkr, iqd); it never adds or changes decimals.
    const disagree = Intl.supportedValuesOf('currency')
      .filter((code) => isIsoCurrency(code))
      .map((code) => {
        const format = new Intl.NumberFormat('en', { style: 'currency', currency: code });
        return { code, digits: format.resolvedOptions().maximumFractionDigits };
      })
      .filter(({ code, digits }) => digits !== minorDigits(code));
    expect(disagree.filter(({ digits }) => digits !== 0)).toEqual([]);
    expect(disagree.filter(({ code }) => minorDigits(code) !== 2 && code !== 'IQD')).toEqual([]);
  });
});

describe('rounding is half away from zero in minor units', () => {
  test.each`
    amount                        | currency | rounded
    ${'0.005'}                    | ${'usd'} | ${'0.01'}
    ${'-0.005'}                   | ${'usd'} | ${'-0.01'}
    ${'0.00499999999'}            | ${'usd'} | ${'0'}
    ${'-0.0049'}                  | ${'usd'} | ${'0'}
    ${'2.675'}                    | ${'USD'} | ${'2.68'}
    ${'0.5'}                      | ${'jpy'} | ${'1'}
    ${'-0.5'}                     | ${'jpy'} | ${'-1'}
    ${'0.0005'}                   | ${'kwd'} | ${'0.001'}
    ${'1.23454'}                  | ${'bhd'} | ${'1.235'}
    ${'0.00005'}                  | ${'clf'} | ${'0.0001'}
    ${'0.015'}                    | ${'usd'} | ${'0.02'}
    ${'12345678901234567890.125'} | ${'usd'} | ${'12345678901234567890.13'}
  `('$amount $currency is $rounded', ({ amount, currency, rounded }) => {
    expect(decimalText(roundToCurrency(new Decimal(amount), currency))).toBe(rounded);
  });

  test('a negative zero does not survive', () => {
    expect(Object.is(roundToCurrency(new Decimal('-0.001'), 'usd').toNumber(), 0)).toBe(true);
  });

  test('an amount that is not finite is a bug', () => {
    expect(() => roundToCurrency(new Decimal(Number.NaN), 'usd')).toThrow('not finite');
    expect(() => roundToCurrency(new Decimal(Infinity), 'usd')).toThrow('not finite');
  });

  test('isRounded', () => {
    expect(isRounded(new Decimal('1.25'), 'usd')).toBe(true);
    expect(isRounded(new Decimal('1.250'), 'usd')).toBe(true);
    expect(isRounded(new Decimal('1.251'), 'usd')).toBe(false);
    expect(isRounded(new Decimal('1.5'), 'jpy')).toBe(false);
  });
});

describe('allocate by largest remainder', () => {
  test.each<[string, readonly string[], Currency, readonly string[]]>([
    ['10.00', ['1', '1', '1'], 'usd', ['3.34', '3.33', '3.33']],
    ['-10.00', ['1', '1', '1'], 'usd', ['-3.34', '-3.33', '-3.33']],
    ['0.02', ['1', '1', '1'], 'usd', ['0.01', '0.01', '0']],
    ['0.01', ['1', '1', '2'], 'usd', ['0', '0', '0.01']],
    ['100', ['1', '1', '1'], 'jpy', ['34', '33', '33']],
    ['1', ['1', '2', '3'], 'kwd', ['0.167', '0.333', '0.5']],
    ['0.0001', ['0.3', '0.7'], 'clf', ['0', '0.0001']],
    ['5', ['0', '7', '0'], 'usd', ['0', '5', '0']],
    ['0', ['1', '2'], 'usd', ['0', '0']],
    ['0', ['0', '0'], 'usd', ['0', '0']],
    ['0', [], 'usd', []],
    ['7', ['3'], 'usd', ['7']],
    ['1', ['1', '1'], { code: 'tok', symbol: 'T', precision: 0 }, ['1', '0']],
    ['33.33', ['99.99', '0.01', '33.32'], 'usd', ['25', '0', '8.33']],
  ])('%s over %j in %j', (amount, weights, currency, parts) => {
    expect(texts(allocate(new Decimal(amount), amounts(weights), currency))).toEqual(parts);
  });

  test.each<[string, readonly string[], string]>([
    ['0.001', ['1'], 'not in minor units'],
    ['1', ['1', '-1'], 'negative'],
    ['1', ['NaN'], 'negative'],
    ['1', ['0', '0'], 'all weights are zero'],
    ['1', [], 'all weights are zero'],
  ])('%s over %j is a bug: %s', (amount, weights, message) => {
    expect(() => allocate(new Decimal(amount), amounts(weights), 'usd')).toThrow(message);
  });
});

describe('display amount', () => {
  test.each<[string, Currency, string]>([
    ['12.5', 'usd', '$12.50'],
    ['49', 'usd', '$49.00'],
    ['0.0004', 'USD', '$0.0004'],
    ['1000', 'jpy', '¥1000'],
    ['0.5', 'jpy', '¥0.5'],
    ['-3', 'usd', '-$3.00'],
    ['10.5', 'eur', '€10.50'],
    ['10.5', 'sgd', 'S$10.50'],
    ['10.5', 'chf', 'CHF10.50'],
    ['1.5', 'kwd', 'KWD1.500'],
    ['10.5', 'xyz', 'XYZ10.50'],
    ['250', { code: 'cr', symbol: 'cr' }, 'cr250.00'],
    ['250', { code: 'cr', symbol: 'cr', precision: 0 }, 'cr250'],
  ])('%s %j is %s', (amount, currency, text) => {
    expect(displayAmount(new Decimal(amount), currency)).toBe(text);
  });
});
