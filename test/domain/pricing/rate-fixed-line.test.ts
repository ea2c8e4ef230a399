import { decimalText } from '../../../domain/money.ts';
import type { ChargeCell, ProrationBehavior } from '../../../domain/pricing/proration.ts';
import { APRIL, at, figures, fixed, fixedLine, pack, span, step, tiered } from './lines.ts';

const amount = (line: ReturnType<typeof fixedLine>) => decimalText(line.amount);

describe('a fixed line is rate(price, quantity) (2.3)', () => {
  test.each`
    unit       | quantity    | charged
    ${'49.99'} | ${'1'}      | ${'49.99'}
    ${'20'}    | ${'2.5'}    | ${'50'}
    ${'20'}    | ${'0'}      | ${'0'}
    ${'1'}     | ${'12.345'} | ${'12.35'}
    ${'0'}     | ${'5'}      | ${'0'}
  `('$quantity at $unit: $charged', ({ unit, quantity, charged }) => {
    const line = fixedLine({ price: fixed(unit), quantity });
    expect(figures(line)).toBe(`${charged} for ${quantity}`);
    expect(line.kind).toBe('base');
    expect(line.commitment_info).toBeNull();
    expect(line.adjusted_entitlement_quantity).toBeNull();
  });

  test('tiers apply to seats: 12 at 1.00 to 10, then 0.50 and a flat 3, is 14.00', () => {
    const price = tiered('SLAB', ['10 1', '- 0.5 3'], { type: 'FIXED' });
    expect(amount(fixedLine({ price, quantity: '12' }))).toBe('14');
  });

  test('packages apply to seats', () => {
    expect(amount(fixedLine({ price: pack('30', 5), quantity: '11' }))).toBe('90');
  });

  test('yen have no cents', () => {
    expect(amount(fixedLine({ price: fixed('1000.5', { currency: 'jpy' }) }))).toBe('1001');
  });

  test('a custom currency has its own precision', () => {
    const currency = { code: 'tok', symbol: 'T', precision: 3 };
    const line = fixedLine({ price: fixed('1.00055', { currency: 'tok' }), currency });
    expect(amount(line)).toBe('1.001');
    expect(line.explanation.currency).toBe('tok');
  });

  test('the account names the quantity and the minimum of the price', () => {
    const line = fixedLine({ price: fixed('5', { min_quantity: '3' }), quantity: '4' });
    expect(step(line, 'quantity')).toEqual({
      step: 'quantity',
      rule: 'billing 2.3',
      quantity: '4',
      min_quantity: '3',
    });
    expect(line.explanation.steps.map((entry) => entry.step)).toEqual([
      'quantity',
      'rate',
      'rounding',
    ]);
  });

  test('a negative quantity is a bug', () => {
    expect(() => fixedLine({ price: fixed('1'), quantity: '-1' })).toThrow('a negative quantity');
  });

  test('a one-time price is never prorated; its service is the second that begins when it is due', () => {
    const due = at('2026-04-20');
    for (const proration_behavior of ['create_prorations', 'none'] as const) {
      const line = fixedLine({ price: fixed('99'), cell: { at: due }, proration_behavior });
      expect(amount(line)).toBe('99');
      expect(line.period).toEqual({ start: due, end: at('2026-04-20T00:00:01') });
    }
  });
});

describe('which part of a cell is paid for (5.1, 5.2, 11)', () => {
  const charge = (cell: ChargeCell, proration_behavior: ProrationBehavior, unit = '30') =>
    amount(fixedLine({ price: fixed(unit), cell, proration_behavior }));

  /** April has 30 days, so that 30.00 is 1.00 a day. */
  const cut = (cell: readonly [string, string], service = cell): ChargeCell => ({
    reference: APRIL,
    cell: span(...cell),
    service: span(...service),
  });

  test.each`
    what                              | cell                                          | prorated | full
    ${'nothing cut'}                  | ${cut(['2026-04-01', '2026-05-01'])}          | ${'30'}  | ${'30'}
    ${'first stub of a calendar'}     | ${cut(['2026-04-21', '2026-05-01'])}          | ${'10'}  | ${'30'}
    ${'last stub before an end date'} | ${cut(['2026-04-01', '2026-04-11'])}          | ${'10'}  | ${'30'}
    ${'both'}                         | ${cut(['2026-04-11', '2026-04-21'])}          | ${'10'}  | ${'30'}
    ${'noon'}                         | ${cut(['2026-04-30T12:00', '2026-05-01'])}    | ${'0.5'} | ${'30'}
    ${'one millisecond'}              | ${cut(['2026-04-30T23:59:59', '2026-05-01'])} | ${'0'}   | ${'30'}
  `('$what: $prorated prorated, $full with none', ({ cell, prorated, full }) => {
    expect(charge(cell, 'create_prorations')).toBe(prorated);
    expect(charge(cell, 'none')).toBe(full);
  });

  test('versions of a line pay their own slices, with and without prorations', () => {
    for (const behavior of ['create_prorations', 'none'] as const) {
      const month = ['2026-04-01', '2026-05-01'] as const;
      expect(charge(cut(month, ['2026-04-01', '2026-04-11']), behavior)).toBe('10');
      expect(charge(cut(month, ['2026-04-11', '2026-04-21']), behavior, '60')).toBe('20');
      expect(charge(cut(month, ['2026-04-21', '2026-05-01']), behavior)).toBe('10');
    }
  });

  test('with none the version that lives at a cut runs to the uncut end of the cell', () => {
    const cancelled = ['2026-04-01', '2026-04-21'] as const;
    const first = cut(cancelled, ['2026-04-01', '2026-04-11']);
    const live = cut(cancelled, ['2026-04-11', '2026-04-21']);
    expect(charge(first, 'none')).toBe('10');
    expect(charge(live, 'none')).toBe('20');
    expect(charge(live, 'create_prorations')).toBe('10');
  });

  test('with none the version that starts a stub runs from the uncut start of the cell', () => {
    const stub = ['2026-04-11', '2026-05-01'] as const;
    expect(charge(cut(stub, ['2026-04-11', '2026-04-21']), 'none')).toBe('20');
    expect(charge(cut(stub, ['2026-04-21', '2026-05-01']), 'none')).toBe('10');
  });

  test('a year cut at an end date keeps the whole year as divisor: 92 days of 365.00 are 92.00', () => {
    const cell = {
      reference: span('2026-07-01', '2027-07-01'),
      cell: span('2026-07-01', '2026-10-01'),
      service: span('2026-07-01', '2026-10-01'),
    };
    expect(charge(cell, 'create_prorations', '365')).toBe('92');
  });

  test('QUARTERLY calendar from 10 February, 30.00 a month: 19/28 and a full March', () => {
    const february = { reference: span('2026-02-01', '2026-03-01') };
    const stub = span('2026-02-10', '2026-03-01');
    expect(charge({ ...february, cell: stub, service: stub }, 'create_prorations')).toBe('20.36');
    expect(charge({ ...february, cell: stub, service: stub }, 'none')).toBe('30');
  });

  test('10 of 30 days of a fee of 250,000.00 are 83,333.33', () => {
    expect(charge(cut(['2026-04-01', '2026-04-11']), 'create_prorations', '250000')).toBe(
      '83333.33',
    );
  });

  test('tiers are prorated as a whole, not by unit', () => {
    const price = tiered('SLAB', ['10 1', '- 0.5 3'], { type: 'FIXED' });
    const line = fixedLine({
      price,
      quantity: '12',
      cell: cut(['2026-04-16', '2026-05-01']),
      proration_behavior: 'create_prorations',
    });
    expect(amount(line)).toBe('7');
    expect(step(line, 'proration')).toMatchObject({ of: '14', slice_ms: 1_296_000_000 });
  });

  test('the row covers the service, also where more is paid for', () => {
    const cell = cut(['2026-04-21', '2026-05-01']);
    expect(fixedLine({ price: fixed('30'), cell }).period).toEqual(cell.service);
    expect(fixedLine({ price: fixed('30'), cell }).explanation.steps).toHaveLength(3);
  });

  test('a clock change in the period needs no special case', () => {
    const march = span('2026-03-01T05:00', '2026-04-01T04:00');
    const rest = span('2026-03-16T04:00', '2026-04-01T04:00');
    const line = fixedLine({
      price: fixed('743'),
      cell: { reference: march, cell: rest, service: rest },
      proration_behavior: 'create_prorations',
    });
    // 743 hours in the month, 384 of them left.
    expect(amount(line)).toBe('384');
  });
});
