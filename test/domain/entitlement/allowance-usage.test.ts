import {
  allowanceQuestions,
  shareMeterAllowance,
  type AllowanceLine,
  type AllowanceMeter,
} from '../../../domain/entitlement/allowance-usage.ts';
import { billableUsage } from '../../../domain/pricing/allowance.ts';
import type { AggregationType, UsageRow } from '../../../domain/metering/usage.ts';
import type { UsageWindow } from '../../../domain/time/usage-windows.ts';
import type { UsageQuestion } from '../../../domain/metering/usage-question.ts';
import { Decimal, decimalText, sum } from '../../../domain/money.ts';
import { epochMs, isoText } from '../../../domain/time/instant.ts';
import type { UsageResetPeriod } from '../../../domain/time/reset-windows.ts';
import { at, span } from '../pricing/lines.ts';

const day: UsageWindow = { bucket_size: 'DAY', timezone: 'UTC', billing_anchor: null };
const meter = (
  usage_reset_period: UsageResetPeriod,
  aggregation: AggregationType = 'SUM',
  more: Partial<AllowanceMeter> = {},
): AllowanceMeter => ({
  aggregation,
  reset_usage: 'BILLING_PERIOD',
  usage_reset_period,
  schedule: {
    start_date: at('2026-01-01'),
    billing_anchor: at('2026-01-01'),
    billing_cycle: 'anniversary',
    customer_timezone: 'UTC',
  },
  charge_period: span('2026-01-01', '2026-02-01'),
  ...more,
});
const line = (
  service: readonly [string, string],
  limit: string | null = '100',
  more: Partial<AllowanceLine> = {},
): AllowanceLine => ({
  line_id: 'line',
  stream: '{}',
  service: span(...service),
  limit: limit === null ? null : new Decimal(limit),
  windowed: false,
  bucket: null,
  ...more,
});

/** Events as `date value [stream]`. Answers a question from them: a little oracle of the usage store. */
class Events {
  private readonly list: readonly { at: number; value: Decimal; stream: string }[];
  constructor(...events: string[]) {
    this.list = events.map((event) => {
      const [date, value, stream = '{}'] = event.split(' ');
      return { at: epochMs(at(date!)), value: new Decimal(value!), stream };
    });
  }

  answer(
    { start, end, window }: Pick<UsageQuestion, 'start' | 'end' | 'window'>,
    aggregation: AggregationType,
    stream = '{}',
  ): UsageRow[] {
    const inside = this.list.filter(
      (event) => event.stream === stream && event.at >= epochMs(start) && event.at < epochMs(end),
    );
    if (window === null) return [this.row(null, inside, aggregation)];
    const days = new Map<string, typeof inside>();
    for (const event of inside) {
      const day = isoText(event.at).slice(0, 10);
      const key = `${window.bucket_size === 'MONTH' ? `${day.slice(0, 7)}-01` : day}T00:00:00.000Z`;
      days.set(key, [...(days.get(key) ?? []), event]);
    }
    return [...days].map(([start_of_day, events]) => this.row(start_of_day, events, aggregation));
  }

  private row(
    window_start: string | null,
    events: readonly { value: Decimal }[],
    aggregation: AggregationType,
  ): UsageRow {
    const values = events.map(({ value }) => value);
    const quantity =
      aggregation === 'MAX'
        ? Decimal.max(0, ...values)
        : aggregation === 'COUNT_UNIQUE'
          ? new Decimal(new Set(values.map(String)).size)
          : aggregation === 'LATEST'
            ? (values.at(-1) ?? new Decimal(0))
            : sum(values);
    return { group: [], window_start, quantity: decimalText(quantity), event_count: values.length };
  }
}

function share(of: AllowanceMeter, lines: readonly AllowanceLine[], events: Events) {
  const measured = lines.map((own) => ({
    line: own,
    rows: events.answer({ ...own.service, window: own.bucket }, of.aggregation, own.stream),
    replies: new Map(
      allowanceQuestions(of, own).map((question) => [
        question.key,
        events.answer(question, of.aggregation, own.stream),
      ]),
    ),
  }));
  return shareMeterAllowance(of, measured);
}
const billable = (of: AllowanceMeter, lines: readonly AllowanceLine[], events: Events) =>
  Object.fromEntries(
    [...share(of, lines, events)].map(([id, own]) => [id, decimalText(billableUsage(own))]),
  );

const JANUARY = ['2026-01-01', '2026-02-01'] as const;
const FEBRUARY = ['2026-02-01', '2026-03-01'] as const;
const MARCH = ['2026-03-01', '2026-04-01'] as const;

describe('the reset window is the charge period (4)', () => {
  const of = meter('MONTHLY');
  test('no further query is needed', () => {
    expect(allowanceQuestions(of, line(FEBRUARY))).toEqual([]);
  });
  test('max(0, U − L), separately for each period', () => {
    const events = new Events('2026-01-05 130', '2026-02-05 90', '2026-03-05 250');
    expect(billable(of, [line(JANUARY)], events)).toEqual({ line: '30' });
    expect(billable(of, [line(FEBRUARY)], events)).toEqual({ line: '0' });
    expect(billable(of, [line(MARCH)], events)).toEqual({ line: '150' });
  });
  test('no usage, no answer row: nothing is billable', () => {
    const none = shareMeterAllowance(of, [{ line: line(JANUARY), rows: [], replies: new Map() }]);
    expect(billableUsage(none.get('line')!).toFixed()).toBe('0');
  });
});

describe('the reset window is shorter (4)', () => {
  const of = meter('DAILY');
  test('each window is a question', () => {
    const questions = allowanceQuestions(of, line(['2026-01-01', '2026-01-03']));
    expect(questions).toEqual([
      { key: `within:${at('2026-01-01')}`, ...span('2026-01-01', '2026-01-02'), window: null },
      { key: `within:${at('2026-01-02')}`, ...span('2026-01-02', '2026-01-03'), window: null },
    ]);
  });
  test('DAILY 100 with days of 80, 150, 100, 230: 180', () => {
    const events = new Events(
      '2026-01-01 80',
      '2026-01-02 150',
      '2026-01-03 100',
      '2026-01-04 230',
    );
    expect(billable(of, [line(JANUARY)], events)).toEqual({ line: '180' });
  });
  test('MONTHLY in a quarter', () => {
    const events = new Events('2026-01-05 130', '2026-02-05 90', '2026-03-05 250');
    const quarter = line(['2026-01-01', '2026-04-01']);
    expect(billable(meter('MONTHLY'), [quarter], events)).toEqual({ line: '180' });
  });
  test('WEEKLY counts seven-day steps from the anchor', () => {
    const events = new Events(
      '2026-01-01 60',
      '2026-01-07T23:59 60',
      '2026-01-08 60',
      '2026-01-14 60',
    );
    expect(billable(meter('WEEKLY'), [line(JANUARY)], events)).toEqual({ line: '40' });
  });
  test('a line that begins in mid-window finds used what came before it', () => {
    const noon = line(['2026-01-01T12:00', '2026-01-03']);
    expect(allowanceQuestions(of, noon).map(({ key }) => key.split(':')[0])).toEqual([
      'before',
      'within',
      'within',
    ]);
    const events = new Events('2026-01-01T06:00 90', '2026-01-01T18:00 30', '2026-01-02 100');
    expect(billable(of, [noon], events)).toEqual({ line: '20' });
  });
});

describe('the reset window is longer, or never ends (4)', () => {
  test('NEVER 1000 with months of 600, 700, 300: 0, 300, 300', () => {
    const of = meter('NEVER');
    const events = new Events('2026-01-05 600', '2026-02-05 700', '2026-03-05 300');
    const bill = (month: readonly [string, string]) => billable(of, [line(month, '1000')], events);
    expect([bill(JANUARY), bill(FEBRUARY), bill(MARCH)]).toEqual([
      { line: '0' },
      { line: '300' },
      { line: '300' },
    ]);
  });

  test('earlier usage is queried from the start of the window', () => {
    expect(allowanceQuestions(meter('NEVER'), line(MARCH))).toEqual([
      { key: `before:${at('2026-01-01')}`, ...span('2026-01-01', '2026-03-01'), window: null },
    ]);
    expect(allowanceQuestions(meter('ANNUAL'), line(JANUARY))).toEqual([]);
  });

  test('ANNUAL resets with the year', () => {
    const of = meter('ANNUAL');
    const events = new Events('2026-12-05 600', '2027-01-05 600');
    const december = line(['2026-12-01', '2027-01-01'], '500');
    const january = line(['2027-01-01', '2027-02-01'], '500');
    expect(billable(of, [december], events)).toEqual({ line: '100' });
    expect(billable(of, [january], events)).toEqual({ line: '100' });
  });

  test('usage before the line began counts as used (the line starts on 15 February)', () => {
    const events = new Events('2026-01-15 50', '2026-02-20 75', '2026-02-25 25');
    const late = line(['2026-02-15', '2026-03-01']);
    expect(billable(meter('NEVER'), [late], events)).toEqual({ line: '50' });
  });

  test('the periods of one window sum to max(0, total − limit)', () => {
    const of = meter('NEVER');
    const events = new Events('2026-01-05 80', '2026-02-05 60', '2026-03-05 10');
    const bills = [JANUARY, FEBRUARY, MARCH].map(
      (month) => billable(of, [line(month)], events)['line'],
    );
    expect(bills).toEqual(['0', '40', '10']);
  });
});

describe('aggregates that do not add up (4)', () => {
  test('COUNT_UNIQUE: what is new in the window counts, by the difference of two totals', () => {
    const of = meter('NEVER', 'COUNT_UNIQUE');
    const february = line(FEBRUARY, '3');
    expect(allowanceQuestions(of, february).map(({ key }) => key)).toEqual([
      `before:${at('2026-01-01')}`,
      `through:${at('2026-01-01')}`,
    ]);
    // 1 and 2 in January; 1, 2, 3 and 4 in February: two new ones, of which one was still free.
    const events = new Events(
      '2026-01-05 1', '2026-01-06 2', '2026-02-05 1', '2026-02-06 2', '2026-02-07 3', '2026-02-08 4',
    ); // prettier-ignore
    expect(billable(of, [february], events)).toEqual({ line: '1' });
  });

  test('a service that begins in mid-window and spans the next asks for both', () => {
    const of = meter('DAILY', 'COUNT_UNIQUE');
    const noon = line(['2026-01-01T12:00', '2026-01-03'], '1');
    expect(allowanceQuestions(of, noon)).toEqual([
      {
        key: `before:${at('2026-01-01')}`,
        ...span('2026-01-01', '2026-01-01T12:00'),
        window: null,
      },
      { key: `through:${at('2026-01-01')}`, ...span('2026-01-01', '2026-01-02'), window: null },
      { key: `within:${at('2026-01-02')}`, ...span('2026-01-02', '2026-01-03'), window: null },
    ]);
    const events = new Events(
      '2026-01-01T06:00 1', '2026-01-01T18:00 1', '2026-01-01T19:00 2', '2026-01-02 1', '2026-01-02 2',
    ); // prettier-ignore
    expect(billable(of, [noon], events)).toEqual({ line: '2' });
  });

  test('MAX: the bill is the growth beyond the limit', () => {
    const of = meter('NEVER', 'MAX');
    const events = new Events('2026-01-05 120', '2026-02-05 90', '2026-03-05 150');
    const bill = (month: readonly [string, string]) => billable(of, [line(month)], events)['line'];
    expect([bill(JANUARY), bill(FEBRUARY), bill(MARCH)]).toEqual(['20', '0', '30']);
  });

  test.each<[AggregationType]>([['LATEST'], ['AVG'], ['MIN'], ['WEIGHTED_SUM']])(
    '%s: the limit is per charge period, for every reset period',
    (aggregation) => {
      const of = meter('NEVER', aggregation);
      expect(allowanceQuestions(of, line(FEBRUARY))).toEqual([]);
      const rows = [{ group: [], window_start: null, quantity: '130', event_count: 3 }];
      const own = shareMeterAllowance(of, [{ line: line(FEBRUARY), rows, replies: new Map() }]);
      expect(billableUsage(own.get('line')!).toFixed()).toBe('30');
      expect(own.get('line')!.entries[0]).toMatchObject(span(...FEBRUARY));
    },
  );

  test('a level that is never reset is held to the limit in each period', () => {
    const of = meter('ANNUAL', 'SUM', { reset_usage: 'NEVER' });
    expect(allowanceQuestions(of, line(FEBRUARY))).toEqual([]);
    expect(billable(of, [line(FEBRUARY)], new Events('2026-02-03 130'))).toEqual({ line: '30' });
  });
});

describe('several lines of one meter (4.6)', () => {
  test('versions of a line share the window in their order', () => {
    const of = meter('MONTHLY');
    const lines = [
      line(['2026-01-15', '2026-02-01'], '100', { line_id: 'v2' }),
      line(['2026-01-01', '2026-01-15'], '100', { line_id: 'v1' }),
    ];
    const events = new Events('2026-01-05 70', '2026-01-20 80');
    expect(billable(of, lines, events)).toEqual({ v1: '0', v2: '50' });
  });

  test('what was used before the first version counts once', () => {
    const of = meter('NEVER');
    const lines = [
      line(['2026-02-01', '2026-02-15'], '100', { line_id: 'v1' }),
      line(['2026-02-15', '2026-03-01'], '100', { line_id: 'v2' }),
    ];
    const events = new Events('2026-01-05 60', '2026-02-05 30', '2026-02-20 30');
    expect(billable(of, lines, events)).toEqual({ v1: '0', v2: '20' });
  });

  test('what was used between two versions takes free usage between them', () => {
    const of = meter('MONTHLY');
    const lines = [
      line(['2026-01-01', '2026-01-10'], '100', { line_id: 'v1' }),
      line(['2026-01-20', '2026-02-01'], '100', { line_id: 'v2' }),
    ];
    const events = new Events('2026-01-05 30', '2026-01-15 50', '2026-01-25 40');
    expect(billable(of, lines, events)).toEqual({ v1: '0', v2: '20' });
    const early = new Events('2026-01-05 120', '2026-01-15 50', '2026-01-25 40');
    expect(billable(of, lines, early)).toEqual({ v1: '20', v2: '40' });
  });

  test('a maximum of a day that two versions cut gives no free usage back', () => {
    const of = meter('MONTHLY', 'MAX');
    const lines = [
      line(['2026-01-10T12:00', '2026-01-11'], '100', {
        line_id: 'v1',
        windowed: true,
        bucket: day,
      }),
      line(['2026-01-11', '2026-02-01'], '100', { line_id: 'v2', windowed: true, bucket: day }),
    ];
    const events = new Events('2026-01-10T06:00 60', '2026-01-10T18:00 50', '2026-01-12 40');
    expect(billable(of, lines, events)).toEqual({ v1: '10', v2: '40' });
  });

  test('lines with other filters add what was used of theirs', () => {
    const of = meter('NEVER');
    const lines = ['eu', 'us'].map((stream) => line(FEBRUARY, '100', { line_id: stream, stream }));
    const events = new Events(
      '2026-01-05 40 eu',
      '2026-01-05 30 us',
      '2026-02-05 20 eu',
      '2026-02-05 20 us',
    );
    expect(billable(of, lines, events)).toEqual({ eu: '0', us: '10' });
  });

  test('a limit that a plan change raised applies to the later version', () => {
    const of = meter('MONTHLY');
    const lines = [
      line(['2026-01-01', '2026-01-15'], '100', { line_id: 'v1' }),
      line(['2026-01-15', '2026-02-01'], '200', { line_id: 'v2' }),
    ];
    const events = new Events('2026-01-05 150', '2026-01-20 80');
    expect(billable(of, lines, events)).toEqual({ v1: '50', v2: '30' });
  });
});

describe('windowed prices claim window by window (4)', () => {
  const bucketed = (service: readonly [string, string], limit = '100') =>
    line(service, limit, { windowed: true, bucket: day });
  const freeOf = (of: AllowanceMeter, own: AllowanceLine, events: Events) =>
    share(of, [own], events)
      .get('line')!
      .entries.map((entry) => decimalText(entry.usage.minus(entry.free)));

  test('L = 100 with days of 40, 70, 50: billable 0, 10, 50', () => {
    const events = new Events('2026-01-01 40', '2026-01-02 70', '2026-01-03 50');
    expect(freeOf(meter('MONTHLY'), bucketed(JANUARY), events)).toEqual(['0', '10', '50']);
    expect(allowanceQuestions(meter('MONTHLY'), bucketed(JANUARY))).toEqual([]);
  });

  test('several reset windows in one charge period each grant the allowance', () => {
    const events = new Events('2026-01-31 90', '2026-02-01 120', '2026-02-02 10', '2026-03-31 101');
    const quarter = bucketed(['2026-01-01', '2026-04-01']);
    expect(freeOf(meter('MONTHLY'), quarter, events)).toEqual(['0', '20', '10', '1']);
  });

  test('earlier usage is queried in windows as well: the sum of their values', () => {
    const of = meter('NEVER', 'MAX');
    const [question] = allowanceQuestions(of, bucketed(FEBRUARY));
    expect(question).toEqual({
      key: `before:${at('2026-01-01')}`,
      ...span('2026-01-01', '2026-02-01'),
      window: day,
    });
    const events = new Events('2026-01-01 30', '2026-01-01 20', '2026-01-02 50', '2026-02-01 40');
    expect(freeOf(of, bucketed(FEBRUARY), events)).toEqual(['20']);
  });

  test('each reset in a window of the price grants the allowance', () => {
    const month: UsageWindow = { bucket_size: 'MONTH', timezone: 'UTC', billing_anchor: null };
    const events = new Events('2026-01-01 130', '2026-01-02 30', '2026-01-03 250');
    const january = line(JANUARY, '100', { windowed: true, bucket: month });
    const [first, second] = allowanceQuestions(meter('DAILY'), january);
    expect([first, second]).toEqual([
      { key: `part:${at('2026-01-01')}`, ...span('2026-01-01', '2026-01-02'), window: null },
      { key: `part:${at('2026-01-02')}`, ...span('2026-01-02', '2026-01-03'), window: null },
    ]);
    const entries = share(meter('DAILY'), [january], events).get('line')!.entries;
    const used = entries.filter(({ usage }) => usage.gt(0));
    expect(used.map(({ at: from, free, part_of }) => [from, decimalText(free), part_of])).toEqual([
      [at('2026-01-01'), '100', at('2026-01-01')],
      [at('2026-01-02'), '30', at('2026-01-01')],
      [at('2026-01-03'), '100', at('2026-01-01')],
    ]);
  });

  test('a window of a commitment is divided at a reset too', () => {
    const week = span('2026-01-29', '2026-02-05');
    const own = line(['2026-01-29', '2026-02-05'], '100', {
      ...{ windowed: true, committed: [{ grid: week, service: week }] },
    });
    const rows = [{ group: [], window_start: week.start, quantity: '260', event_count: 2 }];
    const events = new Events('2026-01-30 130', '2026-02-02 130');
    const replies = new Map(
      allowanceQuestions(meter('MONTHLY'), own).map((question) => [
        question.key,
        events.answer(question, 'SUM'),
      ]),
    );
    const [divided] = [
      ...shareMeterAllowance(meter('MONTHLY'), [{ line: own, rows, replies }]).values(),
    ];
    expect(divided!.entries.map(({ free }) => decimalText(free))).toEqual(['100', '100']);
  });

  test('a window that began before the service belongs to it', () => {
    const noon = bucketed(['2026-01-01T12:00', '2026-01-03'], '100');
    const rows = [
      { group: [], window_start: at('2026-01-01'), quantity: '70', event_count: 1 },
      { group: [], window_start: at('2026-01-02'), quantity: '70', event_count: 1 },
    ];
    const own = shareMeterAllowance(meter('MONTHLY'), [
      { line: noon, rows, replies: new Map() },
    ]).get('line')!;
    expect(own.entries.map((entry) => entry.free.toFixed())).toEqual(['70', '30']);
  });

  test('a line without usage has a share without claims', () => {
    const own = shareMeterAllowance(meter('MONTHLY'), [
      { line: bucketed(JANUARY), rows: [], replies: new Map() },
    ]).get('line')!;
    expect(own).toEqual({ usageResetPeriod: 'MONTHLY', entries: [] });
  });
});
