import {
  quotaStates,
  quotaUsage,
  shareQuotas,
  type QuotaGrant,
} from '../../../domain/entitlement/quota-usage.ts';
import type { QuotaConfig } from '../../../domain/entitlement/quota-windows.ts';
import { Decimal, sum } from '../../../domain/money.ts';
import { epochMs } from '../../../domain/time/instant.ts';
import { at, span } from '../pricing/lines.ts';

const JULY = {
  billing_anchor: at('2026-07-01'),
  billing_cycle: 'anniversary',
  billing_period: 'MONTHLY',
  billing_period_count: 1,
  customer_timezone: 'UTC',
} as const;

const grant = (more: Partial<QuotaConfig> = {}, dates: Partial<QuotaGrant> = {}): QuotaGrant => ({
  config: {
    entitlement_id: 'ent_1',
    grant_measure: 'quantity',
    grant_duration_value: 5,
    grant_duration_unit: 'hour',
    grant_quota: new Decimal(100),
    grant_allocation_behavior: 'first_usage',
    aggregation_mode: 'additive',
    ...more,
  },
  start_date: null,
  end_date: null,
  ...dates,
});
const used = (...moments: [string, number][]) =>
  moments.map(([time, quantity]) => ({
    at: epochMs(at(`2026-07-${time}`)),
    quantity: new Decimal(quantity),
  }));
const shown = (grants: QuotaGrant[], ...moments: [string, number][]) => {
  const { windows, billed } = quotaUsage(grants, JULY, used(...moments));
  return {
    windows: windows.map(
      ({ entitlement_id, start, end, quota, used: usage }) =>
        `${entitlement_id} ${start.slice(5, 16)}..${end.slice(5, 16)} ${usage}/${quota}`,
    ),
    billed: billed.map(Number),
  };
};

describe('windows that usage opens (money 7.4 to 7.10)', () => {
  test('one after the other; each bills what is beyond its quota', () => {
    expect(shown([grant()], ['01T10:20', 60], ['01T15:19', 60], ['01T15:20', 70], ['03T00:00', 1])).toEqual({
      windows: [
        'ent_1 07-01T10:20..07-01T15:20 120/100',
        'ent_1 07-01T15:20..07-01T20:20 70/100',
        'ent_1 07-03T00:00..07-03T05:00 1/100',
      ],
      billed: [0, 20, 0, 0],
    }); // prettier-ignore
  });

  test('additive quotas share a window with their sum', () => {
    const two = [grant(), grant({ entitlement_id: 'ent_0', grant_quota: new Decimal(50) })];
    expect(shown(two, ['01T10:00', 170])).toEqual({
      windows: ['ent_0 07-01T10:00..07-01T15:00 170/150'],
      billed: [20],
    });
  });

  test('parallel quotas have one each, and a unit beyond both is billed once', () => {
    const two = [
      grant({ aggregation_mode: 'parallel' }),
      grant({
        ...{ entitlement_id: 'ent_2', aggregation_mode: 'parallel', grant_duration_unit: 'week' },
        ...{ grant_duration_value: 1, grant_quota: new Decimal(130) },
      }),
    ];
    expect(shown(two, ['01T00:00', 90], ['01T01:00', 20], ['01T02:00', 50], ['01T06:00', 30])).toEqual({
      windows: [
        'ent_1 07-01T00:00..07-01T05:00 160/100',
        'ent_2 07-01T00:00..07-08T00:00 190/130',
        'ent_1 07-01T06:00..07-01T11:00 30/100',
      ],
      billed: [0, 10, 50, 30],
    }); // prettier-ignore
  });

  test('quotas that conflict: additive ones of the first length share windows, the others have their own', () => {
    const conflicting = [
      grant(),
      grant({ entitlement_id: 'ent_2', grant_quota: new Decimal(20) }),
      grant({ entitlement_id: 'ent_3', grant_duration_value: 7, grant_quota: new Decimal(130) }),
      grant({ entitlement_id: 'ent_0', aggregation_mode: 'parallel', grant_quota: new Decimal(300) }),
    ]; // prettier-ignore
    expect(shown(conflicting, ['01T00:00', 125], ['01T05:00', 10])).toEqual({
      windows: [
        'ent_1 07-01T00:00..07-01T05:00 125/120',
        'ent_0 07-01T00:00..07-01T05:00 125/300',
        'ent_3 07-01T00:00..07-01T07:00 135/130',
        'ent_1 07-01T05:00..07-01T10:00 10/120',
        'ent_0 07-01T05:00..07-01T10:00 10/300',
      ],
      billed: [5, 5],
    });
    const usage = quotaUsage(conflicting, JULY, used(['01T00:00', 125]));
    expect(
      quotaStates(conflicting, usage, at('2026-07-01T06:00')).map(
        ({ entitlement_id, left }) => `${entitlement_id} ${left}`,
      ),
    ).toEqual(['ent_1 120', 'ent_0 300', 'ent_3 5']);
  });

  test('a quota that starts or ends within the cycle', () => {
    const late = grant({}, { start_date: at('2026-07-02'), end_date: at('2026-07-03T02:00') });
    expect(shown([late], ['01T00:00', 5], ['02T00:00', 7], ['03T01:00', 9], ['03T03:00', 11])).toEqual({
      windows: ['ent_1 07-02T00:00..07-02T05:00 7/100', 'ent_1 07-03T01:00..07-03T06:00 9/100'],
      billed: [5, 0, 0, 11],
    }); // prettier-ignore
  });

  test('a window keeps its quota: a raise is seen by the next one', () => {
    const [before, after] = [
      grant({}, { end_date: at('2026-07-01T12:00') }),
      grant({ entitlement_id: 'ent_2', grant_quota: new Decimal(1000) }, { start_date: at('2026-07-01T12:00') }),
    ]; // prettier-ignore
    expect(shown([before, after], ['01T10:00', 90], ['01T13:00', 30], ['01T15:00', 30])).toEqual({
      windows: ['ent_1 07-01T10:00..07-01T15:00 120/100', 'ent_2 07-01T15:00..07-01T20:00 30/1000'],
      billed: [0, 20, 0],
    });
  });

  test('no window crosses the end of the cycle, and a quota as long as it counts nothing', () => {
    const month = grant({ grant_duration_unit: 'week', grant_duration_value: 5 });
    expect(shown([month], ['01T00:00', 5])).toEqual({ windows: [], billed: [5] });
    const period = grant({ grant_duration_unit: 'subscription_period', grant_duration_value: 1 });
    expect(shown([period], ['31T23:00', 90], ['31T23:30', 20])).toEqual({
      windows: ['ent_1 07-01T00:00..08-01T00:00 110/100'],
      billed: [0, 10],
    }); // prettier-ignore
  });

  test('a correction takes back what is billed, in its window only', () => {
    expect(shown([grant()], ['01T00:00', 130], ['01T01:00', -40], ['01T02:00', 20])).toEqual({
      windows: ['ent_1 07-01T00:00..07-01T05:00 110/100'],
      billed: [30, -30, 10],
    });
  });
});

test('the state at an instant: its window, or a fresh quota', () => {
  const grants = [grant()];
  const usage = quotaUsage(grants, JULY, used(['01T10:00', 130]));
  const state = (time: string) => {
    const [{ quota, used: usage_, left, status, window }] = quotaStates(grants, usage, at(`2026-07-${time}`)) as any;
    return [Number(quota), Number(usage_), Number(left), status, window?.end ?? null];
  }; // prettier-ignore
  expect(state('01T14:59')).toEqual([100, 130, 0, 'exhausted', at('2026-07-01T15:00')]);
  expect(state('01T15:00')).toEqual([100, 0, 100, 'active', null]);
});

describe('lines of one meter', () => {
  const line = (line_id: string, more: object = {}) => ({
    line_id,
    stream: 'all',
    service: span('2026-07-01', '2026-08-01'),
    moments: used(['01T10:00', 60], ['01T12:00', 60]),
    windowOf: () => null,
    ...more,
  });
  const billed = (lines: Parameters<typeof shareQuotas>[2], grants = [grant()]) =>
    [...shareQuotas(grants, JULY, lines)].map(([id, share]) => [
      id,
      Number(sum([...share.billed.values()])),
      Number(share.outside),
      share.windows.length,
    ]);

  test('use the same windows in the order of time', () => {
    const other = line('b', { stream: 'eu', moments: used(['01T11:00', 30]) });
    expect(billed([line('a'), other])).toEqual([
      ['a', 50, 0, 1],
      ['b', 0, 0, 1],
    ]);
  });

  test('of one stream count usage once', () => {
    const first = line('a', { service: span('2026-07-01', '2026-07-01T11:00'), moments: used(['01T10:00', 60]) });
    const second = line('b', { service: span('2026-07-01T11:00', '2026-08-01') });
    expect(billed([second, first])).toEqual([
      ['b', 20, 0, 1],
      ['a', 0, 0, 1],
    ]);
    expect(billed([second])).toEqual([['b', 20, 0, 1]]);
  }); // prettier-ignore

  test('without a quota in force all is billed, as usage in no window', () => {
    expect(billed([line('a')], [grant({}, { end_date: at('2026-07-01T11:00') })])).toEqual([
      ['a', 60, 60, 1],
    ]);
  });
});
