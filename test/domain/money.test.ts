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

describe('decimal text', () => {
  test.each`
    input                                         | text
    ${'1e-7'}                                     | ${'0.0000001'}
    ${'1e21'}                                     | ${'1000000000000000000000'}
    ${'10.500'}                                   | ${'10.5'}
    ${'-0'}                                       | ${'0'}
    ${'-0.00'}                                    | ${'0'}
    ${'-5'}                                       | ${'-5'}
    ${'0.100'}                                    | ${'0.1'}
    ${'123456789012345678901234567890.123456789'} | ${'123456789012345678901234567890.123456789'}
  `('$input prints as $text', ({ input, text }) => {
    expect(decimalText(new Decimal(input))).toBe(text);
  });

  test.each(['0', '-5', '0.10', '007.50', '12345678901234567890.123456789012345678'])(
    'a record may hold %s',
    (text) => expect(decimal(text).eq(new Decimal(text))).toBe(true),
  );

  test.each(['', ' 1', '1.', '.5', '+1', '1e5', 'NaN', 'Infinity', '0x10', '1_000', '１', '1\n'])(
    '%j in a record is a bug',
    (text) => expect(() => decimal(text)).toThrow('not decimal text'),
  );
});

describe('numbers of a client', () => {
  test.each<[string | number, string]>([
    ['12.50', '12.5'],
    [' 3 ', '3'],
    ['-0.00', '0'],
    [0.1, '0.1'],
    [1e-7, '0.0000001'],
    [100, '100'],
    [-2.5, '-2.5'],
    [123456789012345, '123456789012345'],
    ['99999999999999999999.999999999999999999', '99999999999999999999.999999999999999999'],
  ])('%j is %s', (input, text) => {
    expect(decimalText(parseDecimal(input, 'amount'))).toBe(text);
  });

  test.each<[string | number, string]>([
    ['', 'decimal number'],
    ['abc', 'decimal number'],
    ['1e3', 'decimal number'],
    ['--1', 'decimal number'],
    ['1,000', 'decimal number'],
    ['Infinity', 'decimal number'],
    [Number.NaN, 'finite'],
    [Infinity, 'finite'],
    [0.1 + 0.2, '15 significant'],
    [1234567890123456, '15 significant'],
    ['100000000000000000000', '20 integer'],
    ['-100000000000000000000', '20 integer'],
    ['0.1234567890123456789', '18 decimal'],
    [`0.${'0'.repeat(200)}`, '18 decimal'],
    [1e21, '20 integer'],
  ])('%j is refused, naming the field: %s', (input, message) => {
    const refused = () => parseDecimal(input, 'tiers[1].unit_amount');
    expect(refused).toThrow(BillingError);
    expect(refused).toThrow(message);
    expect(refused).toThrow('tiers[1].unit_amount');
  });
});

describe('arithmetic', () => {
  test('half away from zero at 40 digits, exact below', () => {
    expect(new Decimal(1).div(3).toFixed()).toBe(`0.${'3'.repeat(40)}`);
    expect(new Decimal(2).div(3).toFixed()).toBe(`0.${'6'.repeat(39)}7`);
    expect(new Decimal('0.1').plus('0.2').toFixed()).toBe('0.3');
  });

  test('a sum of nothing is zero', () => {
    expect(sum([]).isZero()).toBe(true);
    expect(sum(['0.1', '0.2', '-0.3'].map(decimal)).isZero()).toBe(true);
  });

  test('storage keeps 18 decimals, half away from zero', () => {
    expect(roundToStorage(new Decimal(2).div(3)).toFixed()).toBe('0.666666666666666667');
    expect(roundToStorage(new Decimal('-0.0000000000000000005')).toFixed()).toBe(
      '-0.000000000000000001',
    );
    expect(isStorable(new Decimal('0.1234567890123456789'))).toBe(false);
    expect(isStorable(new Decimal('-99999999999999999999.5'))).toBe(true);
    expect(isStorable(new Decimal('1e20'))).toBe(false);
    expect(isStorable(new Decimal(Infinity))).toBe(false);
  });
});
