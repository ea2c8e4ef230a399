import type { UsageRow } from '../../../domain/metering/usage.ts';
import type { UsageWindow } from '../../../domain/time/usage-windows.ts';
import { commitmentTerms, type CommitmentFields } from '../../../domain/pricing/commitment.ts';
import {
  commitmentWindows,
  isWindowed,
  measuredRows,
  measureQuestions,
  type MeasuredLine,
} from '../../../domain/pricing/usage-measure.ts';
import { usageUnits } from '../../../domain/pricing/usage-units.ts';
import { at, flat, span, usageLine, whole, windows } from './lines.ts';

const day: UsageWindow = { bucket_size: 'DAY', timezone: 'UTC', billing_anchor: null };
const measured = (
  commitment: CommitmentFields,
  bucket: UsageWindow | null = null,
  service = span('2026-01-01', '2026-02-01'),
): MeasuredLine => ({
  service,
  cell: service,
  bucket,
  commitment: commitmentTerms(commitment),
  charge: { billing_period: 'MONTHLY', billing_period_count: 1 },
  schedule: {
    start_date: at('2026-01-01'),
    end_date: null,
    billing_anchor: at('2026-01-01'),
    billing_cycle: 'anniversary',
    billing_period: 'MONTHLY',
    billing_period_count: 1,
    customer_timezone: 'UTC',
  },
});
const daily = { commitment_amount: '5', commitment_duration: 'DAILY' as const };

describe('what is asked to measure a line (2.4, 6.2)', () => {
  test.each<[string, MeasuredLine, UsageWindow | null]>([
    ['without a bucket the service as a whole', measured({}), null],
    ['with a bucket its windows', measured({}, day), day],
    ['a commitment for the period changes nothing', measured({ commitment_amount: '5' }), null],
    ['nor does one for a term', measured({ commitment_amount: '5', commitment_duration: 'ANNUAL' }), null],
    ['nor one for each bucket', measured({ commitment_amount: '5', commitment_windowed: true }, day), day],
    ['nor one for a shorter time beside a bucket', measured(daily, day), day],
  ])('%s', (_title, line, window) => {
    const { start, end } = line.service;
    expect(measureQuestions(line)).toEqual([{ key: 'usage', start, end, window }]);
    expect(isWindowed(line)).toBe(window !== null);
    const rows = whole('7');
    expect(measuredRows(line, new Map([['usage', rows]]))).toBe(rows);
    expect(measuredRows(line, new Map())).toEqual([]);
  }); // prettier-ignore

  test('a commitment for a shorter time without a bucket asks for each of its windows', () => {
    const line = measured(daily);
    const questions = measureQuestions(line);
    expect(questions).toHaveLength(31);
    expect(questions[0]).toEqual({
      key: `usage:${at('2026-01-01')}`,
      ...span('2026-01-01', '2026-01-02'),
      window: null,
    });
    expect(questions.at(-1)).toMatchObject(span('2026-01-31', '2026-02-01'));
    expect(new Set(questions.map(({ key }) => key)).size).toBe(31);
    expect(isWindowed(line)).toBe(true);
  });

  test('their answers become the rows to rate; windows without usage are left out', () => {
    const line = measured(daily, null, span('2026-01-01T12:00', '2026-01-04'));
    const [first, second, third] = measureQuestions(line);
    const replies = new Map<string, UsageRow[]>([
      [first!.key, whole('3', 2)],
      [second!.key, []],
      [third!.key, [...whole('4'), ...whole('5', 7)]],
    ]);
    expect(measuredRows(line, replies)).toEqual([
      { group: [], window_start: at('2026-01-01'), quantity: '3', event_count: 2 },
      { group: [], window_start: at('2026-01-03'), quantity: '9', event_count: 8 },
    ]);
  });
});

describe('the windows that a commitment applies to one by one (6.2)', () => {
  const starts = (line: MeasuredLine, until?: string) =>
    commitmentWindows(line, until === undefined ? null : at(until))?.map(({ grid }) =>
      grid.start.slice(0, 10),
    );
  const service = span('2026-01-01T12:00', '2026-01-04');
  const windowed = { commitment_amount: '5', commitment_windowed: true };

  test('none without a commitment, for the period, or for a term', () => {
    expect(commitmentWindows(measured({}, day))).toBeNull();
    expect(commitmentWindows(measured({ commitment_amount: '5' }, day))).toBeNull();
    const annual = { commitment_amount: '5', commitment_duration: 'ANNUAL' as const };
    expect(commitmentWindows(measured(annual))).toBeNull();
    expect(commitmentWindows(measured(annual), at('2026-01-05'))).toBeNull();
  });

  test('those of the bucket, empty ones included, with their whole and their served part', () => {
    expect(commitmentWindows(measured(windowed, day, service))).toEqual([
      { grid: span('2026-01-01', '2026-01-02'), service: span('2026-01-01T12:00', '2026-01-02') },
      { grid: span('2026-01-02', '2026-01-03'), service: span('2026-01-02', '2026-01-03') },
      { grid: span('2026-01-03', '2026-01-04'), service: span('2026-01-03', '2026-01-04') },
    ]);
  });

  test('those of its own duration, beside a bucket as well', () => {
    const hour: UsageWindow = { ...day, bucket_size: 'HOUR' };
    expect(starts(measured(daily, null, service))).toEqual([
      '2026-01-01',
      '2026-01-02',
      '2026-01-03',
    ]);
    expect(starts(measured(daily, hour, service))).toEqual([
      '2026-01-01',
      '2026-01-02',
      '2026-01-03',
    ]);
  });

  test('in a preview only windows that have begun', () => {
    const line = measured(windowed, day, service);
    expect(starts(line, '2026-01-02')).toEqual(['2026-01-01']);
    expect(starts(line, '2026-01-02T00:01')).toEqual(['2026-01-01', '2026-01-02']);
    expect(starts(line, '2026-01-01T12:00')).toEqual([]);
    expect(starts(line, '2027-01-01')).toHaveLength(3);
  });

  test('a bucket without windows of its own commitment has none', () => {
    expect(commitmentWindows(measured(windowed, null, service))).toBeNull();
  });
});

test('hours are rated one by one, under the commitment of their day', () => {
  const hour: UsageWindow = { ...day, bucket_size: 'HOUR' };
  const service = span('2026-01-01', '2026-01-03');
  const line = measured({ ...daily, commitment_overage_factor: '2' }, hour, service);
  const rated = usageLine({
    price: flat('1'),
    bucket_size: 'HOUR',
    rows: windows('2026-01-01T00:00 3', '2026-01-01T23:00 4', '2026-01-02T05:00 1'),
    line: { ...daily, commitment_overage_factor: '2' },
    cell: { reference: service, cell: service, service },
    commitment: { scope: 'windows', windows: commitmentWindows(line)! },
  });
  // Day 1: 5 + 2 × 2; day 2: 1.
  expect(rated.amount.toFixed()).toBe('10');
});

test('days without usage have their commitment as well', () => {
  const service = span('2026-01-01', '2026-01-04');
  const commitment = { ...daily, commitment_true_up_enabled: true };
  const line = measured(commitment, null, service);
  const rated = usageLine({
    price: flat('1'),
    rows: measuredRows(line, new Map()),
    line: commitment,
    cell: { reference: service, cell: service, service },
    commitment: { scope: 'windows', windows: commitmentWindows(line)! },
  });
  expect(rated.amount.toFixed()).toBe('15');
  expect(rated.quantity.toFixed()).toBe('0');
});

describe('units of a line (2.4)', () => {
  test('windows in order, then groups in order', () => {
    const units = usageUnits(
      windows('2026-01-02 1 b', '2026-01-02 2 a', '2026-01-01 3 z'),
      true,
      'MAX',
    );
    expect(units.map(({ windowStart, group }) => [windowStart!.slice(0, 10), ...group])).toEqual([
      ['2026-01-01', 'z'],
      ['2026-01-02', 'a'],
      ['2026-01-02', 'b'],
    ]);
  });

  test('windowed SUM adds the groups of a window up, with their events', () => {
    const rows = windows('2026-01-01 0.1 a', '2026-01-01 0.2 b', '2026-01-02 1 a');
    const units = usageUnits(rows, true, 'SUM');
    expect(
      units.map(({ quantity, eventCount, group }) => [quantity.toFixed(), eventCount, group]),
    ).toEqual([
      ['0.3', 2, []],
      ['1', 1, []],
    ]);
  });

  test('a whole period is one unit, used or not', () => {
    expect(usageUnits([], false, 'SUM')).toMatchObject([{ windowStart: null, eventCount: 0 }]);
    expect(usageUnits(whole('4', 9), false, 'LATEST')).toMatchObject([
      { windowStart: null, group: [], eventCount: 9 },
    ]);
  });

  test('windows for a price without windows are a bug', () => {
    expect(() => usageUnits(windows('2026-01-01 1'), false, 'SUM')).toThrow(
      'windows for a price without windows',
    );
  });
});
