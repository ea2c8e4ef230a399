import {
  extractDimensions,
  extractNumber,
  extractUniqueValue,
} from '../../../domain/metering/extract.ts';

describe('the number in a field', () => {
  test.each<[Record<string, unknown>, string | null, string | null]>([
    [{ n: 5 }, '5', null],
    [{ n: '5.50' }, '5.5', null],
    [{ n: -3 }, '-3', null],
    [{}, null, 'value_missing'],
    [{ n: null }, null, 'value_missing'],
    [{ n: 'foo_bar' }, null, 'value_not_numeric'],
    [{ n: true }, null, 'value_not_numeric'],
    [{ n: [5] }, null, 'value_not_numeric'],
    [{ n: '1e30' }, null, 'value_out_of_range'],
    [{ N: 5 }, null, 'value_missing'],
  ])('%j', (properties, value, reason) => {
    expect(extractNumber(properties, 'n')).toEqual({ value, reason });
  });

  test('a field name with dots is one name', () => {
    expect(extractNumber({ 'usage.tokens': 3, usage: { tokens: 4 } }, 'usage.tokens')).toEqual({
      value: '3',
      reason: null,
    });
  });

  test.each(['constructor', '__proto__', 'toString'])('an inherited %s is not a value', (field) => {
    expect(extractNumber({}, field).value).toBeNull();
  });
});

describe('the value that COUNT_UNIQUE tells apart', () => {
  test.each<[Record<string, unknown>, string | null]>([
    [{ u: 'alice' }, 'alice'],
    [{ u: '' }, ''],
    [{ u: 5 }, '5'],
    [{ u: '5' }, '5'],
    [{ u: '5.0' }, '5.0'],
    [{ u: false }, 'false'],
    [{ u: null }, null],
    [{}, null],
    [{ u: {} }, null],
  ])('%j is %j', (properties, value) => {
    expect(extractUniqueValue(properties, 'u')).toBe(value);
  });
});

describe('dimensions', () => {
  test('keep their order, with the empty string for what is missing or no scalar', () => {
    const properties = { a: 1, b: 'x', c: null, d: ['x'], e: true };
    const names = ['b', 'a', 'c', 'd', 'missing', 'e', 'constructor'];
    expect(extractDimensions(properties, names)).toEqual(['x', '1', '', '', '', 'true', '']);
    expect(extractDimensions(properties, [])).toEqual([]);
  });
});
