import { numericText, scalarText, whyNotNumeric } from '../../../domain/json-scalar.ts';

describe('text of a JSON scalar', () => {
  test.each<[unknown, string | null]>([
    ['eu-west', 'eu-west'],
    ['', ''],
    [' padded ', ' padded '],
    [5, '5'],
    [-0, '0'],
    [1.5, '1.5'],
    [1e21, '1000000000000000000000'],
    [1e-7, '0.0000001'],
    [-2.5e-10, '-0.00000000025'],
    [true, 'true'],
    [false, 'false'],
    [null, null],
    [undefined, null],
    [{}, null],
    [['a'], null],
    [Number.NaN, null],
    [Infinity, null],
  ])('%j is %j', (value, text) => expect(scalarText(value)).toBe(text));

  test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'an inherited member %s is no scalar',
    (name) => {
      const properties = JSON.parse('{"a": 1}') as Record<string, unknown>;
      expect(scalarText(properties[name])).toBeNull();
      expect(numericText(properties[name])).toBeNull();
    },
  );

  test('an own member of that name is', () => {
    const properties = JSON.parse('{"__proto__": "x", "constructor": 2}') as Record<
      string,
      unknown
    >;
    expect(scalarText(properties['__proto__'])).toBe('x');
    expect(numericText(properties['constructor'])).toBe('2');
  });
});

describe('a number, or a numeric string, as canonical decimal text', () => {
  test.each<[unknown, string]>([
    [0, '0'],
    [-0, '0'],
    [42, '42'],
    [-42, '-42'],
    [0.1, '0.1'],
    [1e-7, '0.0000001'],
    [123456789012345, '123456789012345'],
    [9007199254740991, '9007199254740991'],
    [12345678901234500000, '12345678901234500000'],
    [0.000001234, '0.000001234'],
    ['0', '0'],
    ['-0', '0'],
    ['-0.0', '0'],
    ['10.50', '10.5'],
    ['007', '7'],
    ['-007.10', '-7.1'],
    [' 3 ', '3'],
    ['1e3', '1000'],
    ['1E-3', '0.001'],
    ['2.50e+1', '25'],
    ['99999999999999999999', '99999999999999999999'],
    ['-99999999999999999999.999999999999999999', '-99999999999999999999.999999999999999999'],
    ['0.000000000000000001', '0.000000000000000001'],
    ['0.0000000000000000010', '0.000000000000000001'],
    ['00000000000000000000000000001', '1'],
  ])('%j is %s', (value, text) => expect(numericText(value)).toBe(text));

  test.each<[unknown, string]>([
    [undefined, 'value_missing'],
    [null, 'value_missing'],
    ['', 'value_not_numeric'],
    [' ', 'value_not_numeric'],
    ['foo', 'value_not_numeric'],
    ['1,000', 'value_not_numeric'],
    ['0x10', 'value_not_numeric'],
    ['+5', 'value_not_numeric'],
    ['.5', 'value_not_numeric'],
    ['5.', 'value_not_numeric'],
    ['1e', 'value_not_numeric'],
    ['NaN', 'value_not_numeric'],
    ['Infinity', 'value_not_numeric'],
    ['1 2', 'value_not_numeric'],
    ['１', 'value_not_numeric'],
    [true, 'value_not_numeric'],
    [false, 'value_not_numeric'],
    [{}, 'value_not_numeric'],
    [[1], 'value_not_numeric'],
    ['100000000000000000000', 'value_out_of_range'],
    ['-100000000000000000000', 'value_out_of_range'],
    ['0.0000000000000000001', 'value_out_of_range'],
    ['1e20', 'value_out_of_range'],
    ['1e-19', 'value_out_of_range'],
    ['1e9999', 'value_out_of_range'],
    [1e20, 'value_out_of_range'],
    [1e300, 'value_out_of_range'],
    [1.5e-18, 'value_out_of_range'],
    [`0.${'1'.repeat(200)}`, 'value_out_of_range'],
  ])('%j is none: %s', (value, reason) => {
    expect(numericText(value)).toBeNull();
    expect(whyNotNumeric(value)).toBe(reason);
  });

  test('a megabyte of digits is refused at once', () => {
    expect(numericText('9'.repeat(1_000_000))).toBeNull();
    expect(numericText(`1e${'9'.repeat(1_000_000)}`)).toBeNull();
  });
});
