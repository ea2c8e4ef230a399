import { BillingError } from '../../../domain/errors.ts';
import { compileExpression } from '../../../domain/metering/expression.ts';

/**
 * Reliability S14: every expression is refused at creation, or it ends at once for the largest
 * event that the edge lets in. What runs away here runs into the suite's timeout.
 */
const times = (text: string, count: number) => text.repeat(count);
const properties: Record<string, unknown> = {
  s: times('a', 4_096),
  long: times('a', 1_000_000),
  d: times('9', 1_000_000),
  n: '99999999999999999999.999999999999999999',
  l: Array.from({ length: 1_000 }, (_, index) => `${index}.000000000000000001`),
  wide: Array.from({ length: 300_000 }, () => 1),
  // What takes a search that compares at each place four minutes.
  run: times('a', 250_000) + 'b' + times('a', 250_000),
  deep: [[Array.from({ length: 300_000 }, () => 1)]],
  numbers: Array.from({ length: 1_000 }, () => '1e-9999'),
  tinyText: '1e-30000000',
  hugeText: '1e30000000',
  tiny: 1e-300,
  o: Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, index])),
};

const HOSTILE: readonly string[] = [
  's.matches("(a+)+$") ? 1 : 0',
  's.matches("(a|aa)+b") ? 1 : 0',
  's.matches("(.*)(.*)(.*)(.*)(.*)(.*)(.*)b") ? 1 : 0',
  `s.matches("${times('a?', 200)}${times('a', 200)}b") ? 1 : 0`,
  `s.matches("(${times('(a*)*', 30)})b") ? 1 : 0`,
  's.matches("([a-z]{30}){30}b") ? 1 : 0',
  's.matches("(a{1000}){1000}") ? 1 : 0',
  's.matches("a{100000}") ? 1 : 0',
  's.matches("((((a{10}){10}){10}){10}){10}") ? 1 : 0',
  's.matches("[^b]{999}b") ? 1 : 0',
  's.matches("(?:a|a|a|a|a|a|a|a)*b") ? 1 : 0',
  `s.matches("${times('(a|', 100)}${times(')', 100)}") ? 1 : 0`,
  'long.matches("a*b") ? 1 : 0',
  'long.contains(s) ? 1 : 0',
  'long == long ? 1 : 0',
  'long < long ? 1 : 0',
  'size(long)',
  'd + 1',
  'd * d',
  'd == 1 ? 1 : 0',
  'double(d)',
  'n * n * n * n * n * n * n * n * n * n * n * n * n * n * n * n',
  'l.map(x, x * n * n * n * n * n * n).size()',
  'l.map(x, x * n).map(x, x * n).map(x, x * n).size()',
  'l.filter(x, x > 0).filter(x, x > 0).filter(x, x > 0).size()',
  'l.exists_one(x, x * n * n / 7 % 3 == 1) ? 1 : 0',
  'l.all(x, x in l) ? 1 : 0',
  'l.map(x, l).size()',
  'l.map(x, l.map(y, l.map(z, x))).size()',
  'l.exists(x, l.exists(y, l.exists(z, x == y))) ? 1 : 0',
  'l.all(x, s.matches("(a+)+b")) ? 1 : 0',
  'l.all(x, s.matches("(a|aa)+$")) ? 1 : 0',
  'l.all(x, long.contains("b")) ? 0 : 1',
  'l.all(x, size(long) > 0) ? 1 : 0',
  'l.all(x, l == l) ? 1 : 0',
  'wide.exists(x, x == 2) ? 1 : 0',
  '2 in wide ? 1 : 0',
  'wide == wide ? 1 : 0',
  'size(wide + wide + wide)',
  'max(wide)',
  'o.all(k, k in o) ? 1 : 0',
  'o.all(k, o[k] >= 0) ? 1 : 0',
  '1e9999 * 1e9999 * 1e9999 + 1',
  '1e9999 % 7',
  '1 / 1e-9999 % 3',
  'size(string(1e9999))',
  '1e999999999999',
  '1 / 3 / 3 / 3 / 3 / 3 / 3 / 3 / 3 / 3 / 3 / 3 / 3 / 3',
  times('(', 500) + '1' + times(')', 500),
  times('[', 1_000),
  times('!', 1_000) + 'a',
  times('-', 1_000) + '1',
  times('a?b:', 250) + 'c',
  'a' + times('.b', 500),
  'a' + times('[0]', 300),
  times('1+', 500) + '1',
  times('a||', 300) + 'a',
  '"' + times('\\u0041', 160) + '"',
  times('f(', 300),
  times('{"a":', 150),
  `"${times('a', 1_000)}".matches(s) ? 1 : 0`,
  'properties.properties.properties.properties.properties',
  'size(string(1e-30000000))',
  'size(string(1e-99999999999999999999))',
  'string(1e-30000000).contains("1") ? 1 : 0',
  'l.map(x, string(1e-30000000)).size()',
  '1e-30000000',
  '1e-101 * 1',
  '1e38 * 1e38 * 1e38 * 1e38 + 1e-100 * 1e-100 * 1e-100',
  `size(string(${Array(60).fill('1e-100').join('*')}))`,
  `size(string(${Array(60).fill('1e38').join('*')}))`,
  `${Array(60).fill('1e38').join('*')} + ${Array(30).fill('1e-100').join('*')}`,
  `int(${Array(60).fill('1e38').join('*')}) % 7`,
  `l[int(${Array(60).fill('1e38').join('*')})]`,
  'tinyText + 1',
  'size(string(double(tinyText)))',
  'hugeText * hugeText',
  'string(hugeText) == tinyText ? 1 : 0',
  'size(string(tiny))',
  'size(string(tiny * tiny * tiny))',
  'numbers.map(x, x * 1).size()',
  'numbers.all(x, x == 0) ? 1 : 0',
  'numbers.all(x, numbers == numbers) ? 1 : 0',
  'long.contains(run) ? 1 : 0',
  'l.all(x, !long.contains(run)) ? 1 : 0',
  'run.contains(long) ? 1 : 0',
  'deep == deep ? 1 : 0',
  'l.all(x, deep == deep) ? 1 : 0',
  'l.all(x, deep in [deep]) ? 1 : 0',
  'l.map(x, l + []).map(y, y + []).size()',
  'l.map(x, [l, l, l, l, l, l, l, l]).map(y, y + y).size()',
  `l.map(x, ${Array(30).fill('size(l + [])').join('+')}).size()`,
  'l.map(x, string(x * n)).size()',
  `s.matches("${times('x{0,999}', 100)}y") ? 1 : 0`,
  `s.matches("${times('(x?){900}', 10)}y") ? 1 : 0`,
  `${Array(40).fill('s.matches("a{999}")').join(' || ')} ? 1 : 0`,
];

describe('hostile expressions end', () => {
  test.each(HOSTILE.map((source) => [source.slice(0, 60), source]))('%s', (_title, source) => {
    let evaluate: ReturnType<typeof compileExpression>;
    try {
      evaluate = compileExpression(source);
    } catch (error) {
      expect(error).toBeInstanceOf(BillingError);
      return;
    }
    const { value, reason } = evaluate(properties);
    expect((value === null) !== (reason === null)).toBe(true);
  });

  test('there are at least fifty', () => expect(HOSTILE.length).toBeGreaterThanOrEqual(50));
});
