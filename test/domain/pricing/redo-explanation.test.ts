import type { Explanation } from '../../../schemas/explanation.ts';
import { close, compare, exact, floor, ceiling, rounded, text } from './exact.ts';
import { fixedLine, fixed, slab, span, usageLine, whole, windows, flat } from './lines.ts';
import { redo } from './redo-explanation.ts';
import { priceOf } from './second-interpreter.ts';

/** The clerk who redoes explanations must notice every wrong figure, or agreeing means nothing. */
describe('a wrong figure is noticed', () => {
  const lines = {
    tiers: usageLine({ price: slab('10 1 2', '- 0.5'), rows: whole('25.5') }),
    windows: usageLine({
      price: slab('10 1', '- 2'),
      bucket_size: 'DAY',
      rows: windows('2026-01-01 12', '2026-01-02 3'),
    }),
    commitment: usageLine({
      price: flat('1.5'),
      rows: whole('100'),
      line: { commitment_quantity: '50', commitment_overage_factor: '2' },
    }),
    stub: fixedLine({
      price: fixed('31'),
      proration_behavior: 'create_prorations',
      cell: {
        reference: span('2026-01-01', '2026-02-01'),
        cell: span('2026-01-11', '2026-02-01'),
        service: span('2026-01-11', '2026-02-01'),
      },
    }),
  };

  /** Every decimal of the explanation, raised by one in turn; inputs that nothing checks are listed. */
  test.each(Object.entries(lines))('%s', (_name, { explanation }) => {
    expect(redo(explanation)).toEqual([]);
    const unnoticed: string[] = [];
    for (const path of decimalPaths(explanation)) {
      const copy = structuredClone(explanation);
      raise(copy, path);
      if (redo(copy).length === 0) unnoticed.push(path.join('.'));
    }
    expect(unnoticed.filter((path) => !FREE.test(path))).toEqual([]);
  });

  /** The line's quantity is compared with the row elsewhere; bounds of tiers that took nothing are free. */
  const FREE =
    /^quantity$|event_count|with_usage|min_quantity|tiers\.\d+\.(above|up_to|tier)$|decimals|model\.tiers\.\d+\.up_to|weights/;
});

type Path = readonly (string | number)[];

function decimalPaths(value: unknown, path: Path = []): Path[] {
  if (typeof value === 'string') return /^-?\d+(\.\d+)?$/.test(value) ? [path] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => decimalPaths(inner, [...path, key]));
}

function raise(explanation: Explanation, path: Path): void {
  const parent = path.slice(0, -1).reduce((at, key) => (at as never)[key], explanation as unknown);
  const key = path.at(-1)! as never;
  const record = parent as Record<string, string>;
  record[key] = text({
    n: exact(record[key]!).n + exact(record[key]!).d,
    d: exact(record[key]!).d,
  });
}

describe('exact fractions', () => {
  test.each`
    value          | decimals | half
    ${'0.005'}     | ${2}     | ${'0.01'}
    ${'-0.005'}    | ${2}     | ${'-0.01'}
    ${'0.0049999'} | ${2}     | ${'0'}
    ${'-10.125'}   | ${2}     | ${'-10.13'}
    ${'1000.5'}    | ${0}     | ${'1001'}
    ${'999.999'}   | ${2}     | ${'1000'}
  `('$value to $decimals decimals is $half', ({ value, decimals, half }) => {
    expect(text(rounded(exact(value), decimals))).toBe(half);
  });

  test('floors and ceilings go the right way below zero', () => {
    expect([floor(exact('-1.5')), ceiling(exact('-1.5'))].map((value) => text(value))).toEqual([
      '-2',
      '-1',
    ]);
    expect([floor(exact('1.5')), ceiling(exact('1.5'))].map((value) => text(value))).toEqual([
      '1',
      '2',
    ]);
    expect(compare(floor(exact('2')), ceiling(exact('2')))).toBe(0);
  });

  test('close allows what 40 digits cannot hold, and no more', () => {
    const third = { n: 1n, d: 3n };
    expect(close(exact(`0.${'3'.repeat(40)}`), third)).toBe(true);
    expect(close(exact(`0.${'3'.repeat(20)}`), third)).toBe(false);
  });
});

describe('the second interpreter, by the worked table of 2.2', () => {
  const tiers = [
    { up_to: '1000', unit_amount: '0.10', flat_amount: '0' },
    { up_to: '5000', unit_amount: '0.08', flat_amount: '5' },
    { up_to: null, unit_amount: '0.05', flat_amount: '20' },
  ];
  test.each`
    quantity    | volume      | slab
    ${'0'}      | ${'0'}      | ${'0'}
    ${'1000'}   | ${'100'}    | ${'100'}
    ${'1000.5'} | ${'85.04'}  | ${'105.04'}
    ${'1001'}   | ${'85.08'}  | ${'105.08'}
    ${'5000'}   | ${'405'}    | ${'425'}
    ${'5001'}   | ${'270.05'} | ${'445.05'}
    ${'12000'}  | ${'620'}    | ${'795'}
  `('$quantity', ({ quantity, volume, slab: ladder }) => {
    const priced = (tier_mode: 'VOLUME' | 'SLAB') =>
      text(priceOf({ billing_model: 'TIERED', tier_mode, tiers }, exact(quantity)));
    expect(priced('VOLUME')).toBe(volume);
    expect(priced('SLAB')).toBe(ladder);
  });
});
