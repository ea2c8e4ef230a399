import { shareAllowance } from '../../../domain/pricing/allowance.ts';
import { Decimal, decimalText } from '../../../domain/money.ts';
import type { CommitmentFields } from '../../../domain/pricing/commitment.ts';
import type { CommitmentWindow } from '../../../domain/pricing/line-commitment.ts';
import type { RatedLine } from '../../../domain/pricing/rated-line.ts';
import { windowsWithin } from '../../../domain/time/usage-windows.ts';
import {
  at,
  cellOf,
  figures,
  flat,
  JANUARY,
  pack,
  slab,
  span,
  step,
  tiered,
  usageLine,
  usageLines,
  whole,
  windows,
} from './lines.ts';

const steps = (line: RatedLine) => line.explanation.steps.map((entry) => entry.step);

describe('a USAGE line of one charge period (2.2, 0.2)', () => {
  test.each`
    quantity     | amount    | why
    ${'150'}     | ${'15'}   | ${'rounded once'}
    ${'0.05'}    | ${'0.01'} | ${'half away from zero'}
    ${'0.04999'} | ${'0'}    | ${'below the half'}
    ${'0'}       | ${'0'}    | ${'a zero row stays'}
    ${'-12'}     | ${'0'}    | ${'negative usage counts as none'}
  `('$quantity at 0.10 is $amount: $why', ({ quantity, amount }) => {
    const line = usageLine({ price: flat('0.10'), rows: whole(quantity) });
    expect(decimalText(line.amount)).toBe(amount);
    expect(line.kind).toBe('base');
    expect(line.period).toEqual(JANUARY);
    expect(line.adjusted_entitlement_quantity).toBeNull();
    expect(line.commitment_info).toBeNull();
    expect(steps(line)).toEqual(['usage', 'rate', 'rounding']);
  });

  test('keeps the unrounded charge beside the amount', () => {
    const line = usageLine({ price: flat('0.003333'), rows: whole('1000') });
    expect(decimalText(line.unrounded)).toBe('3.333');
    expect(decimalText(line.amount)).toBe('3.33');
  });

  test('no answer row is no usage', () => {
    const line = usageLine({ price: slab('10 1 5', '- 2'), rows: [] });
    expect(figures(line)).toBe('0 for 0');
    expect(step(line, 'usage')).toMatchObject({ event_count: 0, quantity: '0', windows: null });
  });

  test('the quantity is what was charged: negative usage is quantity 0', () => {
    const line = usageLine({ price: flat('3'), rows: whole('-2') });
    expect(figures(line)).toBe('0 for 0');
    expect(step(line, 'usage').quantity).toBe('-2');
  });

  test.each`
    currency | amount
    ${'jpy'} | ${'1001'}
    ${'kwd'} | ${'1000.5'}
    ${'clf'} | ${'1000.5'}
    ${'usd'} | ${'1000.5'}
  `('1000.5 units at 1 in $currency: $amount', ({ currency, amount }) => {
    const line = usageLine({ price: flat('1', { currency }), rows: whole('1000.5') });
    expect(decimalText(line.amount)).toBe(amount);
    expect(line.explanation.currency).toBe(currency);
  });

  test('a custom currency rounds to its own precision', () => {
    const currency = { code: 'tok', symbol: 'T', precision: 1 };
    const line = usageLine({
      price: flat('1', { currency: 'tok' }),
      rows: whole('0.25'),
      currency,
    });
    expect(decimalText(line.amount)).toBe('0.3');
    expect(line.explanation.currency).toBe('tok');
    expect(step(line, 'rounding')).toMatchObject({ decimals: 1, currency: 'tok' });
  });

  test('whole-period usage comes in one row without a window', () => {
    const twice = [...whole('1'), ...whole('2')];
    expect(() => usageLine({ price: flat('1'), rows: twice })).toThrow('in one row');
    const rows = windows('2026-01-01 1');
    expect(usageLine({ price: flat('1'), rows }).explanation.steps[1]).toMatchObject({
      rule: 'billing 2.4',
    });
  });
});

describe('windowed prices: SLAB 0-10 at 1, above at 2 (2.4)', () => {
  const ladder = slab('10 1', '- 2');
  const hourly = { bucket_size: 'HOUR' as const, aggregation: 'MAX' as const };

  test('each window is priced alone: 3, 12, 0, 7 is 24, and not 34 as their sum of 22 would be', () => {
    const line = usageLine({
      ...hourly,
      price: ladder,
      rows: windows(
        '2026-01-01T00:00 3',
        '2026-01-01T01:00 12',
        '2026-01-01T02:00 0',
        '2026-01-01T03:00 7',
      ),
    });
    expect(figures(line)).toBe('24 for 22');
    expect(step(line, 'rate').ratings.map(({ amount }) => amount)).toEqual(['3', '14', '0', '7']);
    expect(step(line, 'usage')).toMatchObject({
      rule: 'billing 2.4',
      windows: { bucket_size: 'HOUR', timezone: 'UTC', with_usage: 4 },
    });
  });

  test('with MAX and groups the unit is (window, group): 3 and 12 in one hour is 17', () => {
    const line = usageLine({
      ...hourly,
      price: ladder,
      rows: windows('2026-01-01T00:00 12 b', '2026-01-01T00:00 3 a', '2026-01-01T01:00 4 a'),
    });
    expect(figures(line)).toBe('21 for 19');
    expect(step(line, 'rate').ratings.map(({ group, quantity }) => [...group, quantity])).toEqual([
      ['a', '3'],
      ['b', '12'],
      ['a', '4'],
    ]);
    expect(step(line, 'usage').windows).toMatchObject({ with_usage: 2 });
  });

  test('with SUM the groups of a window are one unit: 3 and 12 is 15 together', () => {
    const line = usageLine({
      price: ladder,
      bucket_size: 'DAY',
      rows: windows('2026-01-01 3 a', '2026-01-01 12 b'),
    });
    expect(figures(line)).toBe('20 for 15');
    expect(step(line, 'usage')).toMatchObject({ event_count: 2, windows: { with_usage: 1 } });
  });

  test('the order of the rows does not matter', () => {
    const rows = windows('2026-01-03 1', '2026-01-01 20', '2026-01-02 5');
    const starts = (list: typeof rows) =>
      step(usageLine({ price: ladder, bucket_size: 'DAY', rows: list }), 'rate').ratings.map(
        ({ window_start }) => window_start,
      );
    const ordered = [at('2026-01-01'), at('2026-01-02'), at('2026-01-03')];
    expect(starts(rows)).toEqual(ordered);
    expect(starts(rows.toReversed())).toEqual(ordered);
  });

  test('rounds once, at the end: three windows at 0.005 are 0.02', () => {
    const rows = windows('2026-01-01 1', '2026-01-02 1', '2026-01-03 1');
    const line = usageLine({ price: flat('0.005'), bucket_size: 'DAY', rows });
    expect(figures(line)).toBe('0.02 for 3');
  });

  test('packages start again in every window', () => {
    const rows = windows('2026-01-01 12', '2026-01-02 6');
    const line = usageLine({ price: pack('1', 5), bucket_size: 'DAY', rows });
    expect(figures(line)).toBe('5 for 18');
  });

  test('a window below zero is free and takes nothing from the others', () => {
    const rows = windows('2026-01-01 5', '2026-01-02 -3');
    const line = usageLine({ price: flat('1'), bucket_size: 'DAY', rows });
    expect(figures(line)).toBe('5 for 5');
    expect(step(line, 'usage').quantity).toBe('2');
  });

  test('no window with usage: nothing to charge, and a row that says so', () => {
    const line = usageLine({ price: flat('1'), bucket_size: 'DAY', rows: [] });
    expect(figures(line)).toBe('0 for 0');
    expect(step(line, 'rate')).toMatchObject({ ratings: [], omitted: null, amount: '0' });
  });

  test('a window must come once, and windows must come in windows', () => {
    const twice = windows('2026-01-01T00:00 1', '2026-01-01T00:00 2');
    expect(() => usageLine({ ...hourly, price: ladder, rows: twice })).toThrow('answered twice');
    expect(() => usageLine({ ...hourly, price: ladder, rows: whole('1') })).toThrow(
      'needs windowed usage',
    );
  });

  test.each`
    count  | shown  | omitted
    ${99}  | ${99}  | ${null}
    ${100} | ${100} | ${null}
    ${101} | ${100} | ${{ count: 1, quantity: '12', amount: '14' }}
    ${250} | ${100} | ${{ count: 150, quantity: '1800', amount: '2100' }}
  `('of $count windows $shown are listed', ({ count, shown, omitted }) => {
    const cells = windowsWithin(
      { bucket_size: 'HOUR', timezone: 'UTC', billing_anchor: null },
      JANUARY,
    ).slice(0, count);
    const rows = cells.map(({ window_start }) => ({
      group: [],
      window_start,
      quantity: '12',
      event_count: 2,
    }));
    const line = usageLine({ price: ladder, bucket_size: 'HOUR', rows });
    const rating = step(line, 'rate');
    expect(rating.ratings).toHaveLength(shown);
    expect(rating.omitted).toEqual(omitted);
    expect(figures(line)).toBe(`${14 * count} for ${12 * count}`);
    expect(step(line, 'usage').event_count).toBe(2 * count);
  });
});

describe('usage after an allowance (4.1, 4.5)', () => {
  const allowance = (limit: string | null, ...claims: string[]) => {
    const window = {
      ...JANUARY,
      usedBefore: new Decimal(0),
      claims: claims.map((claim) => {
        const [start, usage] = claim.split(' ');
        return {
          line_id: 'line',
          at: at(start!),
          usage: new Decimal(usage!),
          limit: limit === null ? null : new Decimal(limit),
        };
      }),
    };
    return shareAllowance('MONTHLY', [window]).get('line')!;
  };

  test.each`
    limit    | usage    | amount    | billable | free
    ${'100'} | ${'500'} | ${'8'}    | ${'400'} | ${'100'}
    ${'100'} | ${'100'} | ${'0'}    | ${'0'}   | ${'100'}
    ${'100'} | ${'101'} | ${'0.02'} | ${'1'}   | ${'100'}
    ${'100'} | ${'99'}  | ${'0'}    | ${'0'}   | ${'99'}
    ${'0'}   | ${'5'}   | ${'0.1'}  | ${'5'}   | ${'0'}
    ${null}  | ${'5'}   | ${'0'}    | ${'0'}   | ${'5'}
    ${'100'} | ${'0'}   | ${'0'}    | ${'0'}   | ${'0'}
    ${'100'} | ${'-5'}  | ${'0'}    | ${'0'}   | ${'0'}
  `('limit $limit, usage $usage: $billable billed', ({ limit, usage, amount, billable, free }) => {
    const line = usageLine({
      price: slab('1000 0.02', '5000 0.005', '- 0.01'),
      rows: whole(usage),
      allowance: allowance(limit, `2026-01-01 ${usage}`),
    });
    expect(figures(line)).toBe(`${amount} for ${billable}`);
    expect(line.adjusted_entitlement_quantity).toEqual(new Decimal(free));
    expect(steps(line)).toEqual(['usage', 'allowance', 'rate', 'rounding']);
  });

  test('tiers begin at the first billable unit', () => {
    const line = usageLine({
      price: slab('10 1', '- 2'),
      rows: whole('25'),
      allowance: allowance('10', '2026-01-01 25'),
    });
    expect(figures(line)).toBe('20 for 15');
  });

  test('a windowed price uses its allowance up along its windows: 100 of 40, 70, 50 leaves 0, 10, 50', () => {
    const line = usageLine({
      price: slab('10 1', '- 2'),
      bucket_size: 'DAY',
      rows: windows('2026-01-01 40', '2026-01-02 70', '2026-01-03 50'),
      allowance: allowance('100', '2026-01-01 40', '2026-01-02 70', '2026-01-03 50'),
    });
    expect(step(line, 'rate').ratings.map(({ quantity }) => quantity)).toEqual(['0', '10', '50']);
    expect(figures(line)).toBe('100 for 60');
    expect(line.adjusted_entitlement_quantity).toEqual(new Decimal(100));
  });

  test('a windowed price needs one claim for each of its windows', () => {
    const rows = windows('2026-01-01 40', '2026-01-02 70');
    const one = allowance('100', '2026-01-01 40');
    expect(() => usageLine({ price: flat('1'), bucket_size: 'DAY', rows, allowance: one })).toThrow(
      'one claim for each priced window',
    );
  });

  test('a windowed price without usage has a row with nothing free', () => {
    const line = usageLine({
      price: slab('10 1', '- 2'),
      bucket_size: 'DAY',
      allowance: { usageResetPeriod: 'MONTHLY', entries: [] },
    });
    expect(figures(line)).toBe('0 for 0');
    expect(line.adjusted_entitlement_quantity).toEqual(new Decimal(0));
  });

  test('several reset windows are free one by one, and what is left is priced together', () => {
    const line = usageLine({
      price: slab('100 1', '- 2'),
      rows: whole('230'),
      allowance: allowance('0', '2026-01-01 80', '2026-01-02 150'),
    });
    expect(figures(line)).toBe('360 for 230');
  });
});

describe('a commitment of a line, once for the charge period (6.1, 6.2)', () => {
  const committed = (fields: CommitmentFields) => ({
    commitment_amount: '1000',
    commitment_overage_factor: '1.5',
    ...fields,
  });
  const info = (line: RatedLine) => {
    const { commitment_info: found } = line;
    return [
      found!.computed_commitment_utilized_amount,
      found!.computed_overage_amount,
      found!.computed_true_up_amount,
    ].join('/');
  };

  test.each`
    usage     | true_up  | amount    | parts
    ${'1400'} | ${true}  | ${'1600'} | ${'1000/600/0'}
    ${'1400'} | ${false} | ${'1600'} | ${'1000/600/0'}
    ${'700'}  | ${true}  | ${'1000'} | ${'700/0/300'}
    ${'700'}  | ${false} | ${'700'}  | ${'700/0/0'}
    ${'1000'} | ${true}  | ${'1000'} | ${'1000/0/0'}
    ${'0'}    | ${true}  | ${'1000'} | ${'0/0/1000'}
    ${'0'}    | ${false} | ${'0'}    | ${'0/0/0'}
  `('1000 at factor 1.5, $usage used: $amount', ({ usage, true_up, amount, parts }) => {
    const line = usageLine({
      price: flat('1'),
      rows: whole(usage),
      line: committed({ commitment_true_up_enabled: true_up }),
    });
    expect(decimalText(line.amount)).toBe(amount);
    expect(info(line)).toBe(parts);
    expect(steps(line)).toEqual(['usage', 'rate', 'commitment', 'rounding']);
  });

  test('commitment_info says what was promised (6.5)', () => {
    const fields = committed({ commitment_true_up_enabled: true, commitment_duration: 'MONTHLY' });
    expect(
      usageLine({ price: flat('1'), rows: whole('1400'), line: fields }).commitment_info,
    ).toEqual({
      type: 'amount',
      amount: '1000',
      quantity: '0',
      duration: 'MONTHLY',
      is_windowed: false,
      overage_factor: '1.5',
      true_up_enabled: true,
      computed_commitment_utilized_amount: '1000',
      computed_overage_amount: '600',
      computed_true_up_amount: '0',
    });
  });

  test('a quantity is worth its price, and overage is priced at the tiers it reaches', () => {
    const line = usageLine({
      price: slab('10 1', '- 2'),
      rows: whole('15'),
      line: { commitment_quantity: '10', commitment_overage_factor: '1.5' },
    });
    expect(figures(line)).toBe('25 for 15');
    expect(line.commitment_info).toMatchObject({ type: 'quantity', amount: '10', quantity: '10' });
    expect(info(line)).toBe('10/15/0');
  });

  test('50 of 70 at 3, factor 2: 150 + 120', () => {
    const line = usageLine({
      price: flat('3'),
      rows: whole('70'),
      line: { commitment_quantity: '50', commitment_overage_factor: '2' },
    });
    expect(decimalText(line.amount)).toBe('270');
  });

  test('a factor of 1 is a commitment: it still brings the true-up', () => {
    const line = usageLine({
      price: flat('1'),
      rows: whole('40'),
      line: { commitment_amount: '100', commitment_true_up_enabled: true },
    });
    expect(decimalText(line.amount)).toBe('100');
    expect(line.commitment_info).toMatchObject({ overage_factor: '1' });
  });

  test('10,000 jpy with true-up and 8,500.5 used: 10,000, true-up 1,500, utilized 8,500', () => {
    const line = usageLine({
      price: flat('1', { currency: 'jpy' }),
      rows: whole('8500.5'),
      line: { commitment_amount: '10000', commitment_true_up_enabled: true },
    });
    expect(decimalText(line.amount)).toBe('10000');
    expect(info(line)).toBe('8500/0/1500');
  });

  test.each`
    behavior               | amount   | parts
    ${'create_prorations'} | ${'50'}  | ${'20/0/30'}
    ${'none'}              | ${'100'} | ${'20/0/80'}
  `('on a stub with $behavior: $amount', ({ behavior, amount, parts }) => {
    const stub = span('2026-04-16', '2026-05-01');
    const line = usageLine({
      price: flat('1'),
      rows: whole('20'),
      line: { commitment_amount: '100', commitment_true_up_enabled: true },
      cell: { reference: span('2026-04-01', '2026-05-01'), cell: stub, service: stub },
      proration_behavior: behavior,
    });
    expect(decimalText(line.amount)).toBe(amount);
    expect(info(line)).toBe(parts);
    expect(line.commitment_info).toMatchObject({ amount: '100' });
  });

  test('two versions of a line share one promise, with none as well', () => {
    const month = span('2026-04-01', '2026-05-01');
    const version = (start: string, end: string) =>
      usageLine({
        price: flat('1'),
        rows: whole('0'),
        line: { commitment_amount: '100', commitment_true_up_enabled: true },
        cell: cellOf(month, span(start, end)),
      });
    expect(decimalText(version('2026-04-01', '2026-04-16').amount)).toBe('50');
    expect(decimalText(version('2026-04-16', '2026-05-01').amount)).toBe('50');
  });

  test('nothing promised is no commitment', () => {
    const none = {
      commitment_amount: '0',
      commitment_quantity: null,
      commitment_overage_factor: '2',
    };
    expect(
      usageLine({ price: flat('1'), rows: whole('5'), line: none }).commitment_info,
    ).toBeNull();
  });

  test('a windowed commitment needs its windows', () => {
    const line = { commitment_amount: '1', commitment_windowed: true };
    expect(() => usageLine({ price: flat('1'), bucket_size: 'DAY', line })).toThrow(
      'a windowed commitment needs its windows',
    );
  });
});

describe('a commitment for each window (6.2)', () => {
  const days = (start: string, end: string): CommitmentWindow[] =>
    windowsWithin(
      { bucket_size: 'DAY', timezone: 'UTC', billing_anchor: null },
      span(start, end),
    ).map((cell) => ({
      grid: { start: cell.window_start, end: cell.window_end },
      service: { start: cell.start, end: cell.end },
    }));
  const rate = (
    fields: CommitmentFields,
    rows: string[],
    grid = days('2026-01-01', '2026-01-04'),
    behavior: 'none' | 'create_prorations' = 'none',
  ) =>
    usageLine({
      price: flat('1'),
      bucket_size: 'DAY',
      rows: windows(...rows),
      line: { commitment_windowed: true, ...fields },
      commitment: { scope: 'windows', windows: grid },
      proration_behavior: behavior,
    });

  test('5 units a day, days of 3 and 9, factor 2: 3 + 5 + 4 × 2', () => {
    const line = rate({ commitment_quantity: '5', commitment_overage_factor: '2' }, [
      '2026-01-01 3',
      '2026-01-02 9',
    ]);
    expect(decimalText(line.amount)).toBe('16');
    expect(line.commitment_info).toMatchObject({
      amount: '5',
      is_windowed: true,
      computed_commitment_utilized_amount: '8',
      computed_overage_amount: '8',
      computed_true_up_amount: '0',
    });
  });

  test('with true-up every window counts, the empty ones too', () => {
    const line = rate({ commitment_amount: '5', commitment_true_up_enabled: true }, [
      '2026-01-01 3',
      '2026-01-03 9',
    ]);
    expect(decimalText(line.amount)).toBe('19');
    expect(line.commitment_info).toMatchObject({
      computed_commitment_utilized_amount: '8',
      computed_overage_amount: '4',
      computed_true_up_amount: '7',
    });
    expect(step(line, 'commitment').windows).toHaveLength(3);
  });

  test('a window with usage of several groups has one commitment', () => {
    const line = usageLine({
      price: flat('1'),
      aggregation: 'MAX',
      bucket_size: 'DAY',
      rows: windows('2026-01-01 3 a', '2026-01-01 4 b'),
      line: { commitment_windowed: true, commitment_amount: '5', commitment_overage_factor: '3' },
      commitment: { scope: 'windows', windows: days('2026-01-01', '2026-01-02') },
    });
    expect(decimalText(line.amount)).toBe('11');
  });

  test.each`
    behavior               | amount
    ${'create_prorations'} | ${'7.5'}
    ${'none'}              | ${'10'}
  `('a window that the service cuts asks with $behavior for $amount', ({ behavior, amount }) => {
    const line = rate(
      { commitment_amount: '5', commitment_true_up_enabled: true },
      [],
      days('2026-01-01T12:00', '2026-01-03'),
      behavior,
    );
    expect(decimalText(line.amount)).toBe(amount);
  });

  test('a clipped window keeps the identity of its grid cell', () => {
    const line = rate(
      { commitment_amount: '5', commitment_overage_factor: '2' },
      ['2026-01-01 6'],
      days('2026-01-01T12:00', '2026-01-02'),
    );
    expect(decimalText(line.amount)).toBe('7');
  });

  test('usage outside of the windows is a bug', () => {
    expect(() => rate({ commitment_amount: '5' }, ['2026-01-09 6'])).toThrow('no window for');
    expect(() => rate({ commitment_amount: '5' }, ['2025-12-31 6'])).toThrow('no window for');
    expect(() =>
      usageLine({
        price: flat('1'),
        rows: whole('1'),
        line: { commitment_amount: '5', commitment_windowed: true },
        commitment: { scope: 'windows', windows: days('2026-01-01', '2026-01-02') },
      }),
    ).toThrow('needs windowed usage');
  });

  test('of many windows 100 are listed and the others summed', () => {
    const grid = days('2026-01-01', '2026-05-01');
    const line = rate({ commitment_amount: '1', commitment_true_up_enabled: true }, [], grid);
    const commitment = step(line, 'commitment');
    expect(commitment.windows).toHaveLength(100);
    expect(commitment.omitted).toMatchObject({ count: 20, true_up: '20', amount: '20' });
    expect(decimalText(line.amount)).toBe('120');
  });

  test('overage and true-up that both round up leave utilized at zero, not below', () => {
    const line = usageLine({
      price: flat('1'),
      bucket_size: 'DAY',
      rows: windows('2026-01-01 0.006'),
      line: {
        commitment_windowed: true,
        commitment_amount: '0.001',
        commitment_true_up_enabled: true,
      },
      commitment: { scope: 'windows', windows: days('2026-01-01', '2026-01-07') },
    });
    expect(decimalText(line.amount)).toBe('0.01');
    expect(line.commitment_info).toMatchObject({
      computed_commitment_utilized_amount: '0',
      computed_overage_amount: '0.01',
      computed_true_up_amount: '0',
    });
  });
});

describe('a commitment for a term of several periods (6.4)', () => {
  const term = span('2026-01-01', '2027-01-01');
  const month = (usage: string, prior: string, lastPeriod = false, fields: CommitmentFields = {}) =>
    usageLines({
      price: flat('1'),
      rows: whole(usage),
      line: {
        commitment_amount: '12000',
        commitment_overage_factor: '1.2',
        commitment_duration: 'ANNUAL',
        commitment_true_up_enabled: true,
        ...fields,
      },
      commitment: {
        scope: 'term',
        position: {
          term,
          commitment: new Decimal('12000'),
          priorUsage: new Decimal(prior),
          lastPeriod,
        },
      },
    });
  const rows = (lines: readonly RatedLine[]) =>
    lines.map((line) => `${line.kind} ${figures(line)}`);

  test.each`
    usage     | prior      | last     | expected
    ${'800'}  | ${'0'}     | ${false} | ${['base 800 for 800']}
    ${'1500'} | ${'10800'} | ${false} | ${['base 1200 for 1500', 'overage 360 for 1']}
    ${'400'}  | ${'12300'} | ${true}  | ${['base 0 for 400', 'overage 480 for 1']}
    ${'700'}  | ${'7700'}  | ${true}  | ${['base 700 for 700', 'true_up 3600 for 1']}
    ${'700'}  | ${'7700'}  | ${false} | ${['base 700 for 700']}
    ${'0'}    | ${'0'}     | ${true}  | ${['base 0 for 0', 'true_up 12000 for 1']}
    ${'1200'} | ${'10800'} | ${true}  | ${['base 1200 for 1200']}
  `('$usage after $prior, last $last', ({ usage, prior, last, expected }) => {
    expect(rows(month(usage, prior, last))).toEqual(expected);
  });

  test('without true-up the last period charges what was used', () => {
    const lines = month('700', '7700', true, { commitment_true_up_enabled: false });
    expect(rows(lines)).toEqual(['base 700 for 700']);
  });

  test('each row carries its own part in commitment_info, so that the parts sum to its amount', () => {
    const parts = month('1500', '10800').map(({ commitment_info: info }) => [
      info!.amount,
      info!.computed_commitment_utilized_amount,
      info!.computed_overage_amount,
      info!.computed_true_up_amount,
    ]);
    expect(parts).toEqual([
      ['12000', '1200', '0', '0'],
      ['12000', '0', '360', '0'],
    ]);
  });

  test('so does the row of the true-up', () => {
    const [base, trueUp] = month('700', '7700', true).map(({ commitment_info: info }) => info!);
    expect(base).toMatchObject({
      computed_commitment_utilized_amount: '700',
      computed_true_up_amount: '0',
    });
    expect(trueUp).toMatchObject({
      computed_commitment_utilized_amount: '0',
      computed_overage_amount: '0',
      computed_true_up_amount: '3600',
    });
  });

  test('only the usage row carries free units', () => {
    const claims = [
      { line_id: 'line', at: JANUARY.start, usage: new Decimal(1500), limit: new Decimal(100) },
    ];
    const window = { ...JANUARY, usedBefore: new Decimal(0), claims };
    const lines = usageLines({
      price: flat('1'),
      rows: whole('1500'),
      line: { commitment_amount: '1000', commitment_duration: 'ANNUAL' },
      allowance: shareAllowance('MONTHLY', [window]).get('line')!,
      commitment: {
        scope: 'term',
        position: {
          term,
          commitment: new Decimal(1000),
          priorUsage: new Decimal(0),
          lastPeriod: false,
        },
      },
    });
    expect(rows(lines)).toEqual(['base 1000 for 1400', 'overage 400 for 1']);
    expect(lines.map((line) => line.adjusted_entitlement_quantity)).toEqual([
      new Decimal(100),
      null,
    ]);
  });

  test('the unrounded part is shown beside each amount', () => {
    const lines = month('1500.004', '10800');
    expect(lines.map((line) => decimalText(line.unrounded))).toEqual(['1200', '360.0048']);
    expect(lines.map((line) => decimalText(line.amount))).toEqual(['1200', '360']);
  });
});

test('VOLUME prices the whole quantity in one tier, commitments compare in money', () => {
  const price = tiered('VOLUME', ['5000 0.08 5', '- 0.05 20']);
  const line = usageLine({
    price,
    rows: whole('5001'),
    line: { commitment_quantity: '5000', commitment_true_up_enabled: true },
  });
  // 5,001 units cost 270.05, less than the 405.00 that 5,000 cost: the promise is what is paid.
  expect(decimalText(line.amount)).toBe('405');
});
