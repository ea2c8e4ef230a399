import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BillingError } from '../../domain/errors.ts';
import { Decimal } from '../../domain/money.ts';
import { differences, inAnyOrder, toDecimals, type Answer, type JsonObject } from './compare.ts';
import type { AreaOperations } from './operation.ts';
import { loadCases, report, type GoldenCase } from './run-golden.ts';

/** The runner decides whether our figures are right, so its own comparison is tested too. */
describe('comparison', () => {
  const agrees = (expected: JsonObject, actual: Answer, currency?: string) =>
    differences(expected, actual, currency).length === 0;

  test.each<[string, JsonObject, Answer, boolean]>([
    ['decimals as decimals', { a: '19' }, { a: new Decimal('19.00') }, true],
    ['a decimal and a number', { a: '19.5' }, { a: 19.5 }, true],
    ['another decimal', { a: '19' }, { a: '19.01' }, false],
    ['never nearly', { a: '0.1' }, { a: '0.10000000000000000001' }, false],
    ['no decimal at all', { a: '19' }, { a: 'nineteen' }, false],
    ['a missing one', { a: '19' }, {}, false],
    ['zero is not missing', { a: '0' }, { a: null }, false],
    [
      'instants as instants',
      { a: '2026-01-01T00:00:00Z' },
      { a: '2026-01-01T00:00:00.000Z' },
      true,
    ],
    [
      'with another offset',
      { a: '2026-01-01T01:00:00+01:00' },
      { a: '2026-01-01T00:00:00Z' },
      true,
    ],
    [
      'one millisecond off',
      { a: '2026-01-01T00:00:00Z' },
      { a: '2026-01-01T00:00:00.001Z' },
      false,
    ],
    ['dates as text', { a: '2026-01-01' }, { a: '2026-01-01' }, true],
    ['null is absent', { a: null }, {}, true],
    ['null is null', { a: null }, { a: null }, true],
    ['null is not zero', { a: null }, { a: 0 }, false],
    ['booleans', { a: false }, { a: false }, true],
    ['a boolean is not its text', { a: true }, { a: 'true' }, false],
    ['only listed keys', { a: '1' }, { a: '1', b: '2' }, true],
    ['nested', { a: { b: ['1', '2'] } }, { a: { b: ['1.0', '2.0'], c: 1 } }, true],
    ['lists in order', { a: ['1', '2'] }, { a: ['2', '1'] }, false],
    ['lists of one length', { a: ['1'] }, { a: ['1', '1'] }, false],
    ['an empty list', { a: [] }, { a: [] }, true],
    ['no list', { a: [] }, { a: null }, false],
    ['in any order', { a: ['1', '2'] }, { a: inAnyOrder(['2', '1']) }, true],
    ['each one once', { a: ['1', '1'] }, { a: inAnyOrder(['1', '2']) }, false],
    ['in any order, of one length', { a: ['1'] }, { a: inAnyOrder(['1', '1']) }, false],
    ['rounded on both sides', { a: '0.123' }, { a: toDecimals(new Decimal('0.12345'), 3) }, true],
    ['rounded and different', { a: '0.124' }, { a: toDecimals(new Decimal('0.12345'), 3) }, false],
    ['the digits that the case asks for', { a: '0.0222', decimals: 4 }, { a: '0.02218' }, true],
    ['and not fewer', { a: '0.02219', decimals: 5 }, { a: '0.02218' }, false],
    ['unrounded when it says so', { a: '0.005', rounding: 'none' }, { a: '0.005' }, true],
    ['ours rounded to the currency', { a: '0.01', rounding: 'currency' }, { a: '0.005' }, true],
    ['theirs never', { a: '0.005', rounding: 'currency' }, { a: '0.005' }, false],
  ])('%s', (_title, expected, actual, same) => {
    expect(agrees(expected, actual)).toBe(same);
  });

  test('rounds to the currency of the case', () => {
    expect(agrees({ a: '1', rounding: 'currency' }, { a: '0.5' }, 'jpy')).toBe(true);
    expect(agrees({ a: '1', rounding: 'currency' }, { a: '0.5' }, 'usd')).toBe(false);
  });

  test('a difference says where, what and what else', () => {
    expect(differences({ a: { b: ['1', '2'] } }, { a: { b: ['1', new Decimal('3.0')] } })).toEqual([
      { path: 'a.b[1]', expected: '"2"', actual: '"3"' },
    ]);
    expect(differences({ a: '1' }, {})).toEqual([
      { path: 'a', expected: '"1"', actual: 'nothing' },
    ]);
  });
});

describe('a run', () => {
  const operations: AreaOperations = {
    add: (given) => ({ total: new Decimal(given['a'] as string).plus(given['b'] as string) }),
    refuse: () => {
      throw new BillingError('invalid', 'no', 'no');
    },
    crash: () => {
      throw new TypeError('a bug');
    },
    peers: (given) => ({ value: given['a'] as string }),
  };
  const golden = (id: string, given: JsonObject, expected: JsonObject): GoldenCase => ({
    id,
    area: 'sums',
    given,
    expect: expected,
  });
  const run = (cases: GoldenCase[], contradictions: Parameters<typeof report>[2] = []) =>
    report(cases, { sums: operations }, contradictions);

  test('counts, and prints one line of totals last', () => {
    const { text, ok } = run([
      golden('right', { operation: 'add', a: '1', b: '2' }, { total: '3.00' }),
      golden('peer', { a: '5' }, { value: '5' }),
      golden('wrong', { operation: 'add', a: '1', b: '2' }, { total: '4' }),
      golden('unknown', { operation: 'multiply' }, { total: '4' }),
      { ...golden('elsewhere', {}, {}), area: 'products' },
    ]);
    expect(ok).toBe(false);
    expect(text.split('\n')).toEqual([
      'failed wrong',
      '  total: expected "4", got "3"',
      'unsupported unknown (sums: multiply)',
      'unsupported elsewhere (products: peers)',
      'golden: 2 passed, 1 failed, 2 unsupported',
    ]);
  });

  test('a refusal answers error, accepted and valid; an answer is accepted', () => {
    const refused = { operation: 'refuse' };
    const answered = { operation: 'add', a: '1', b: '2' };
    const { text, ok } = run([
      golden('error', refused, { error: true }),
      golden('accepted', refused, { accepted: false }),
      golden('valid', refused, { valid: false }),
      golden('taken', answered, { accepted: true, error: false, valid: true }),
    ]);
    expect([text, ok]).toEqual(['golden: 4 passed, 0 failed, 0 unsupported', true]);
    expect(run([golden('not refused', answered, { error: true })]).ok).toBe(false);
    expect(run([golden('not answered', refused, { total: '3' })]).ok).toBe(false);
  });

  test('a bug of ours fails its case and no other', () => {
    const { text } = run([
      golden('crash', { operation: 'crash' }, { error: true }),
      golden('right', { operation: 'add', a: '1', b: '2' }, { total: '3' }),
    ]);
    expect(text).toContain('TypeError: a bug');
    expect(text).toContain('golden: 1 passed, 1 failed, 0 unsupported');
  });

  test('a case that a page contradicts is checked with our figures, and reported', () => {
    const overruled = golden('theirs', { operation: 'add', a: '1', b: '2' }, { total: '4' });
    const contradiction = {
      id: 'theirs',
      rule: 'billing 0.5: sums are sums',
      expect: { total: '3' },
    };
    const { text, ok } = run([overruled], [contradiction]);
    expect(ok).toBe(true);
    expect(text.split('\n')).toEqual([
      'contradicted theirs: billing 0.5: sums are sums; ours {"total":"3"}',
      'overruled by a page: 1',
      'golden: 0 passed, 0 failed, 0 unsupported',
    ]);
    const wrong = run([overruled], [{ ...contradiction, expect: { total: '5' } }]);
    expect(wrong.ok).toBe(false);
    expect(wrong.text).toContain('failed theirs');
  });
});

describe('cases of a directory', () => {
  test('every file below it but disputed.json', () => {
    const directory = mkdtempSync(join(tmpdir(), 'golden-'));
    mkdirSync(join(directory, 'deep'));
    const write = (name: string, id: string) =>
      writeFileSync(
        join(directory, name),
        JSON.stringify([{ id, area: 'a', given: {}, expect: {} }]),
      );
    write('b.json', 'second');
    write('a.json', 'first');
    write('deep/c.json', 'third');
    write('deep/disputed.json', 'disputed');
    write('disputed.json', 'disputed too');
    write('notes.txt', 'not a case');
    expect(loadCases(directory).map(({ id }) => id)).toEqual(['first', 'second', 'third']);
    rmSync(directory, { recursive: true });
  });
});
