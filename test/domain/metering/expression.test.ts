import { readFileSync } from 'node:fs';
import { BillingError } from '../../../domain/errors.ts';
import { compileExpression } from '../../../domain/metering/expression.ts';

const properties = JSON.parse(`{
  "tokens": 1200, "price": "0.0125", "small": 0.1, "zero": 0, "region": "eu-west-1", "spot": true,
  "empty": "", "nothing": null, "list": [3, "1.5", 2], "names": ["a", "b"], "nested": {"deep": {"n": 7}},
  "big": "99999999999999999999", "tiny": "0.000000000000000001", "a b": 9, "constructor": 4, "neg": -2.5
}`) as Record<string, unknown>;

const evaluate = (source: string) => compileExpression(source)(properties);

describe('the examples of docs/expressions.md', () => {
  const page = readFileSync(new URL('../../../docs/expressions.md', import.meta.url), 'utf8');
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('| `{'))
    .map((line) => [...line.matchAll(/`([^`]*)`/g)].map((match) => match[1]!));

  test('are there', () => expect(rows.length).toBeGreaterThan(4));
  test.each(rows)('%s: %s = %s', (event, expression, value) => {
    const sent = JSON.parse(event!) as Record<string, unknown>;
    expect(compileExpression(expression!)(sent)).toEqual({ value, reason: null });
  });
});

describe('values', () => {
  test.each<[string, string]>([
    ['properties.tokens', '1200'],
    ['tokens', '1200'],
    ['properties["a b"]', '9'],
    ['properties.nested.deep.n', '7'],
    ['nested.deep.n + 1', '8'],
    ['nested["deep"]["n"]', '7'],
    ['constructor', '4'],
    ['list[0] + list[1]', '4.5'],
    ['1', '1'],
    ['-1', '-1'],
    ['- tokens', '-1200'],
    ['0x1F', '31'],
    ['12u', '12'],
    ['1.50', '1.5'],
    ['1e3', '1000'],
    ['25E-1', '2.5'],
    ['.5', '0.5'],
    // Digits that a double would lose.
    ['0.10000000000000000001 * 100000000000000000000', '10000000000000000001'],
    ['9007199254740993 - 1', '9007199254740992'],
    ['99999999999999999999', '99999999999999999999'],
    ['"12.50"', '12.5'],
  ])('%s = %s', (source, value) => {
    expect(evaluate(source)).toEqual({ value, reason: null });
  });
});

describe('arithmetic is exact', () => {
  test.each<[string, string]>([
    ['0.1 + 0.2', '0.3'],
    ['small + 0.2', '0.3'],
    ['1.1 * 1.1', '1.21'],
    ['tokens * price', '15'],
    ['price + price', '0.025'],
    ['"1" + "2"', '3'],
    ['tokens - 0.5', '1199.5'],
    ['1 / 3', '0.333333333333333333'],
    ['2 / 3', '0.666666666666666667'],
    ['-2 / 3', '-0.666666666666666667'],
    ['1 / 3 * 3', '1'],
    ['7 % 3', '1'],
    ['-7 % 3', '-1'],
    ['5.5 % 2', '1.5'],
    ['2 + 3 * 4', '14'],
    ['(2 + 3) * 4', '20'],
    ['tiny / 2', '0.000000000000000001'],
    ['tiny / 3', '0'],
    ['-tiny / 3', '0'],
    ['10 - 4 - 3', '3'],
    ['big + tiny', '99999999999999999999.000000000000000001'],
  ])('%s = %s', (source, value) => {
    expect(evaluate(source)).toEqual({ value, reason: null });
  });
});

describe('conditions', () => {
  const truth: [string, boolean][] = [
    ['tokens > 1000', true],
    ['tokens >= 1200', true],
    ['tokens < 1200', false],
    ['tokens <= 1199.999', false],
    ['tokens == 1200.0', true],
    ['tokens != 1200', false],
    ['price == 0.0125', true],
    ['price == "0.0125"', true],
    ['price == "0.01250"', false],
    ['price < 1', true],
    ['region == "eu-west-1"', true],
    ['region == 5', false],
    ['region > "eu"', true],
    ['"10" > "9"', true],
    ['"b" > "a10"', true],
    ['spot', true],
    ['spot == true', true],
    ['spot == "true"', false],
    ['!spot', false],
    ['nothing == 0 || true', true],
    ['has(properties.tokens)', true],
    ['has(properties.absent)', false],
    ['has(properties.nothing)', false],
    ['has(nested.deep)', true],
    ['has(nested.absent)', false],
    ['has(absent.deep)', false],
    ['has(properties.toString)', false],
    ['"tokens" in properties', true],
    ['"absent" in properties', false],
    ['"toString" in properties', false],
    ['region in ["eu-west-1", "us"]', true],
    ['tokens in [1.0, 1200.0]', true],
    ['1.5 in list', true],
    ['"x" in names', false],
    ['names == ["a", "b"]', true],
    ['names == ["a"]', false],
    ['names != ["a", "c"]', true],
    ['null == null', true],
    ['region.startsWith("eu")', true],
    ['region.endsWith("-1")', true],
    ['region.contains("west")', true],
    ['region.contains("east")', false],
    ['region.matches("^eu-[a-z]+-[0-9]$")', true],
    ['matches(region, "^us")', false],
    ['list.exists(x, x > 2)', true],
    ['list.all(x, x > 1)', true],
    ['list.all(x, x > 1.5)', false],
    ['list.exists_one(x, x == 2)', true],
    ['names.exists(n, n == "b")', true],
    ['nested.exists(k, k == "deep")', true],
    // The deciding side wins over a failure of the other.
    ['absent > 1 && false', false],
    ['false && absent > 1', false],
    ['true || absent > 1', true],
    ['absent > 1 || true', true],
    ['["x", 1].exists(v, v > 0)', true],
  ];
  test.each(truth)('%s is %s', (source, holds) => {
    expect(evaluate(`(${source}) ? 1 : 0`)).toEqual({ value: holds ? '1' : '0', reason: null });
  });

  test('only the chosen branch is evaluated', () => {
    expect(evaluate('has(properties.absent) ? absent : 5').value).toBe('5');
    expect(evaluate('zero == 0 ? 0 : 1 / zero').value).toBe('0');
  });
});

describe('functions', () => {
  test.each<[string, string]>([
    ['size(region)', '9'],
    ['region.size()', '9'],
    ['size("😀")', '1'],
    ['size("a😀b😀")', '4'],
    ['size("")', '0'],
    ['size(list)', '3'],
    ['size(nested)', '1'],
    ['int(3.99)', '3'],
    ['int(-3.99)', '-3'],
    ['int("12.7")', '12'],
    ['double("12.7")', '12.7'],
    ['decimal("0.1") + 0.2', '0.3'],
    ['double(string(12.50))', '12.5'],
    ['size(string(tokens))', '4'],
    ['size(string(1.0 * 5))', '1'],
    ['size(string(1e-18))', '20'],
    ['size(string(1e-99))', '101'],
    ['size(string(0e-99))', '1'],
    ['1e-100 * 0', '0'],
    ['1e38 / 1e20', '1000000000000000000'],
    ['ceil(1.1)', '2'],
    ['floor(-1.1)', '-2'],
    ['round(2.5)', '3'],
    ['math.round(-2.5)', '-3'],
    ['math.ceil(tokens / 1000)', '2'],
    ['math.trunc(-1.9)', '-1'],
    ['math.abs(neg)', '2.5'],
    ['abs(neg)', '2.5'],
    ['math.sign(neg)', '-1'],
    ['sign(0.0)', '0'],
    ['sign(tokens)', '1'],
    ['min(3, 1, 2)', '1'],
    ['max(3, "10", 2)', '10'],
    ['math.greatest(list)', '3'],
    ['math.least(list)', '1.5'],
    ['math.greatest(tokens, 2000)', '2000'],
    ['max(7)', '7'],
    ['list.map(x, x * 2)[1]', '3'],
    ['list.filter(x, x >= 2).size()', '2'],
    ['list.filter(x, x >= 2).map(x, x + 1)[0]', '4'],
    ['max(list.map(x, x * tokens))', '3600'],
    ['(list + [10])[3]', '10'],
  ])('%s = %s', (source, value) => {
    expect(evaluate(source)).toEqual({ value, reason: null });
  });
});

describe('an event for which it fails is not metered, with the reason', () => {
  test.each<[string, string]>([
    ['absent', 'value_missing'],
    ['absent + 1', 'value_missing'],
    ['1 + absent', 'value_missing'],
    ['nothing * 2', 'value_missing'],
    ['nested.absent', 'value_missing'],
    ['absent.deep', 'value_missing'],
    ['properties["absent"]', 'value_missing'],
    ['toString', 'value_missing'],
    ['__proto__', 'value_missing'],
    ['list[3]', 'value_missing'],
    ['list[-1]', 'value_missing'],
    ['max([])', 'value_missing'],
    ['absent > 1 ? 1 : 0', 'value_missing'],
    ['absent == 1 ? 1 : 0', 'value_missing'],
    ['1 != absent ? 1 : 0', 'value_missing'],
    ['list.exists(x, x > absent) ? 1 : 0', 'value_missing'],
    ['absent.exists(x, x > 1) ? 1 : 0', 'value_missing'],
    ['absent.startsWith("a") ? 1 : 0', 'value_missing'],
    ['absent.matches("a") ? 1 : 0', 'value_missing'],
    ['null', 'value_missing'],
    ['region', 'value_not_numeric'],
    ['region + 1', 'value_not_numeric'],
    ['1 - region', 'value_not_numeric'],
    ['-region', 'value_not_numeric'],
    ['region > 5 ? 1 : 0', 'value_not_numeric'],
    ['5 > region ? 1 : 0', 'value_not_numeric'],
    ['spot', 'value_not_numeric'],
    ['tokens > 1', 'value_not_numeric'],
    ['list', 'value_not_numeric'],
    ['nested', 'value_not_numeric'],
    ['spot + 1', 'value_not_numeric'],
    ['"a" + "b"', 'value_not_numeric'],
    ['list + 1', 'value_not_numeric'],
    ['max("a", 1)', 'value_not_numeric'],
    ['max(names)', 'value_not_numeric'],
    ['big + 1', 'value_out_of_range'],
    ['big * big', 'value_out_of_range'],
    ['1e38 * 1e38', 'value_out_of_range'],
    ['1e20', 'value_out_of_range'],
    ['tokens / zero', 'expression_failed'],
    ['tokens % zero', 'expression_failed'],
    ['1e38 * 1e38 * 1e38 % 7', 'expression_failed'],
    ['tokens ? 1 : 0', 'expression_failed'],
    ['!tokens ? 1 : 0', 'expression_failed'],
    ['tokens && true ? 1 : 0', 'expression_failed'],
    ['false || region ? 1 : 0', 'expression_failed'],
    ['tokens.startsWith("1") ? 1 : 0', 'expression_failed'],
    ['tokens.matches("1") ? 1 : 0', 'expression_failed'],
    ['1 in tokens ? 1 : 0', 'expression_failed'],
    ['tokens.deep', 'expression_failed'],
    ['has(tokens.deep) ? 1 : 0', 'expression_failed'],
    ['list["a"]', 'value_not_numeric'],
    ['list[0.5]', 'expression_failed'],
    ['nested[1]', 'expression_failed'],
    ['tokens.exists(x, x > 1) ? 1 : 0', 'expression_failed'],
    ['size(tokens)', 'expression_failed'],
    ['nested == nested ? 1 : 0', 'expression_failed'],
    ['size(string(list))', 'expression_failed'],
    ['size(string(1e38 * 1e38 * 1e38))', 'expression_failed'],
    ['size(string(1e-60 * 1e-60))', 'expression_failed'],
    ['size(string(1 / 1e38 / 1e38 / 1e38))', 'expression_failed'],
  ])('%s: %s', (source, reason) => {
    expect(evaluate(source)).toEqual({ value: null, reason });
  });

  test('a list of over 1,000 items is not walked through', () => {
    const walk = compileExpression('l.exists(x, x > 5) ? 1 : 0');
    const items = (count: number) => ({ l: Array.from({ length: count }, () => 1) });
    expect(walk(items(1_000)).value).toBe('0');
    expect(walk(items(1_001)).reason).toBe('expression_failed');
    expect(compileExpression('7 in l ? 1 : 0')(items(1_001)).reason).toBe('expression_failed');
    expect(compileExpression('max(l)')(items(1_001)).reason).toBe('expression_failed');
  });

  test('a text of over 4,096 characters is not matched', () => {
    const match = compileExpression('t.matches("a$") ? 1 : 0');
    expect(match({ t: 'a'.repeat(4_096) }).value).toBe('1');
    expect(match({ t: 'a'.repeat(4_097) }).reason).toBe('expression_failed');
  });
});

describe('the number of steps is bounded, and counted the same everywhere', () => {
  const items = (count: number) => ({ l: Array.from({ length: count }, (_, index) => index) });
  test.each<[string, number, string | null]>([
    ['l.map(x, x * 2).size()', 1_000, '1000'],
    ['l.filter(x, x in l).size()', 200, '200'],
    ['l.filter(x, x in l).size()', 1_000, null],
    ['l.all(x, l == l) ? 1 : 0', 100, '1'],
    ['l.all(x, l == l) ? 1 : 0', 1_000, null],
    ['l.all(x, max(l) >= x) ? 1 : 0', 1_000, null],
    ['size(l + l)', 500, '1000'],
    ['size(l + l)', 501, null],
  ])('%s over %d items', (source, count, value) => {
    const result = compileExpression(source)(items(count));
    expect(result).toEqual({ value, reason: value === null ? 'expression_failed' : null });
  });

  test('a long pattern over a long text', () => {
    const pattern = 'a'.repeat(900);
    const match = compileExpression(`t.matches("${pattern}") ? 1 : 0`);
    expect(match({ t: 'a'.repeat(1_000) }).value).toBe('1');
    expect(match({ t: 'a'.repeat(4_000) }).reason).toBe('expression_failed');
  });

  test('one evaluation does not use up the next', () => {
    const walk = compileExpression('l.all(x, x >= 0) ? 1 : 0');
    for (let i = 0; i < 50; i++) expect(walk(items(1_000)).value).toBe('1');
  });
});

describe('refused when the meter is made', () => {
  test.each<[string, string]>([
    ['', 'must not be empty'],
    ['   ', 'must not be empty'],
    ['1 +', 'not a CEL expression'],
    ['tokens **  2', 'not a CEL expression'],
    ['"open', 'not a CEL expression'],
    ['system("rm")', 'no function system'],
    ['tokens.toFixed(2)', 'no function toFixed'],
    ['math.sqrt(tokens)', 'no function math.sqrt'],
    ['timestamp("2026-01-01T00:00:00Z")', 'no function timestamp'],
    ['constructor("x")', 'no function constructor'],
    ['size()', 'number of arguments'],
    ['int(1, 2)', 'number of arguments'],
    ['region.contains()', 'number of arguments'],
    ['max()', 'number of arguments'],
    ['b"abc"', 'bytes'],
    ['{"a": 1}', 'objects'],
    ['Foo{a: 1}', 'objects'],
    ['region.matches(region)', 'literal pattern'],
    ['region.matches("(")', 'bad pattern'],
    ['region.matches("(a{1000}){1000}")', 'bad pattern'],
    ['region.matches()', 'literal pattern'],
    ['list.map(x, list.map(y, x * y)).size()', 'cannot be nested'],
    ['list.all(x, list.exists(y, y > x)) ? 1 : 0', 'cannot be nested'],
    [`1${' '.repeat(1_024)}`, '1024 characters'],
    [`1${'+1'.repeat(200)}`, 'nested at most'],
    [Array.from({ length: 15 }, (_, i) => `a${i}+b+c+d+e+f+g`).join(' || '), 'at most 200'],
    [`${'('.repeat(41)}1${')'.repeat(41)}`, 'nested at most'],
    [`${'['.repeat(300)}`, 'nested at most'],
    [`a${'.b'.repeat(30)}`, 'nested at most'],
    ['1e99999', 'cannot read the number'],
    ['1e-30000000', 'must be between -1e38 and 1e38'],
    ['string(1e-30000000) == "" ? 1 : 0', 'must be between -1e38 and 1e38'],
    ['1e-101', 'at least 1e-100 away'],
    ['-1e-101', 'at least 1e-100 away'],
    // Below what a decimal can hold: it must not pass as the zero that it is rounded to.
    ['1e-99999999999999999999', 'at least 1e-100 away'],
    ['0e-99999999999999999999 + 1e-99999999999999999999', 'at least 1e-100 away'],
    ['1e300', 'must be between -1e38 and 1e38'],
    ['1.1e38', 'must be between -1e38 and 1e38'],
    ['-1.1e38', 'must be between -1e38 and 1e38'],
    [`1${'0'.repeat(39)}`, 'must be between -1e38 and 1e38'],
    [`0x1${'0'.repeat(60)}`, 'must be between -1e38 and 1e38'],
    [`0.${'1'.repeat(99)}`, 'at most 100 characters'],
    ['[1, 2, 1e39].size()', 'must be between -1e38 and 1e38'],
    ['region == "x" ? 1 : tokens * 1e-200', 'at least 1e-100 away'],
    ['region.matches("(a{100}){100}")', 'repeats more than 1000 parts'],
    ['region.matches("a{999}") || region.matches("b{999}")', 'repeats more than 1000 parts'],
  ])('%s: %s', (source, message) => {
    const compile = () => compileExpression(source, 'aggregation.expression');
    expect(compile).toThrow(BillingError);
    expect(compile).toThrow(message);
    expect(compile).toThrow('aggregation.expression');
  });
});
