import type { BillingSchedule } from '../../../domain/time/billing-periods.ts';
import { chargeCells, serviceWindow, type Cell } from '../../../domain/time/charge-cells.ts';

const short = (text: string) =>
  text.replace(':00.000Z', '').replace(':00Z', '').replace('T00:00', '');
const shown = ({ cell, reference }: Cell) => {
  const own = `${short(cell.start)} > ${short(cell.end)}`;
  const whole = `${short(reference.start)} > ${short(reference.end)}`;
  return own === whole ? own : `${own} / ${whole}`;
};

const subscription: BillingSchedule = {
  start_date: '2026-02-10T00:00:00Z',
  end_date: null,
  billing_anchor: '2026-04-01T00:00:00Z',
  billing_cycle: 'calendar',
  billing_period: 'QUARTERLY',
  billing_period_count: 1,
  customer_timezone: '',
};
const monthly = { billing_period: 'MONTHLY', billing_period_count: 1 } as const;
const period = (start: string, end: string) => ({
  start: `${start}T00:00:00Z`,
  end: `${end}T00:00:00Z`,
});

describe('cells of a price inside a billing period (billing 3.3)', () => {
  test('a monthly price in a clipped quarter: 19 of 28 days, then a full month', () => {
    expect(
      chargeCells(subscription, monthly, period('2026-02-10', '2026-04-01')).map(shown),
    ).toEqual(['2026-02-10 > 2026-03-01 / 2026-02-01 > 2026-03-01', '2026-03-01 > 2026-04-01']);
  });

  test('a monthly price in a full quarter', () => {
    expect(
      chargeCells(subscription, monthly, period('2026-04-01', '2026-07-01')).map(shown),
    ).toEqual(['2026-04-01 > 2026-05-01', '2026-05-01 > 2026-06-01', '2026-06-01 > 2026-07-01']);
  });

  test('a price as long as the subscription is one cell, with the stub of the subscription', () => {
    for (const price of [
      { billing_period: 'QUARTERLY', billing_period_count: 1 },
      { billing_period: 'MONTHLY', billing_period_count: 3 },
    ] as const) {
      expect(
        chargeCells(subscription, price, period('2026-02-10', '2026-04-01')).map(shown),
      ).toEqual(['2026-02-10 > 2026-04-01 / 2026-01-01 > 2026-04-01']);
    }
  });

  test('month ends come back: an annual subscription from 31 January, quarterly price', () => {
    const annual = {
      ...subscription,
      start_date: '2026-01-31T00:00:00Z',
      billing_anchor: '2026-01-31T00:00:00Z',
      billing_cycle: 'anniversary',
      billing_period: 'ANNUAL',
    } as const;
    const price = { billing_period: 'QUARTERLY', billing_period_count: 1 } as const;
    expect(chargeCells(annual, price, period('2026-01-31', '2027-01-31')).map(shown)).toEqual([
      '2026-01-31 > 2026-04-30',
      '2026-04-30 > 2026-07-31',
      '2026-07-31 > 2026-10-31',
      '2026-10-31 > 2027-01-31',
    ]);
  });

  test('an anchor later on the day of the start makes no cell of hours', () => {
    const sameDay = {
      ...subscription,
      start_date: '2026-01-10T09:00:00Z',
      billing_anchor: '2026-01-10T17:00:00Z',
      billing_cycle: 'anniversary',
    } as const;
    const first = { start: '2026-01-10T09:00:00Z', end: '2026-04-10T17:00:00Z' };
    expect(chargeCells(sameDay, monthly, first).map(shown)).toEqual([
      '2026-01-10T09:00 > 2026-02-10T17:00',
      '2026-02-10T17:00 > 2026-03-10T17:00',
      '2026-03-10T17:00 > 2026-04-10T17:00',
    ]);
  });

  test('the end of the subscription cuts the last cell and drops the rest', () => {
    const ended = { ...subscription, end_date: '2026-05-20T00:00:00Z' };
    expect(chargeCells(ended, monthly, period('2026-04-01', '2026-05-20')).map(shown)).toEqual([
      '2026-04-01 > 2026-05-01',
      '2026-05-01 > 2026-05-20 / 2026-05-01 > 2026-06-01',
    ]);
  });

  test('a billing period that was cut short (a cancellation) cuts its last cell', () => {
    expect(
      chargeCells(subscription, monthly, period('2026-04-01', '2026-05-11')).map(shown),
    ).toEqual(['2026-04-01 > 2026-05-01', '2026-05-01 > 2026-05-11 / 2026-05-01 > 2026-06-01']);
  });

  test('no cells for no time', () => {
    expect(chargeCells(subscription, monthly, period('2026-04-01', '2026-04-01'))).toEqual([]);
  });
});

describe('the service window of a line item in a cell', () => {
  const cell = period('2026-04-01', '2026-05-01');
  test.each<[string, string | null, [string, string] | null]>([
    ['2026-01-01', null, ['2026-04-01', '2026-05-01']],
    ['2026-04-01', '2026-05-01', ['2026-04-01', '2026-05-01']],
    ['2026-04-10', null, ['2026-04-10', '2026-05-01']],
    ['2026-01-01', '2026-04-10', ['2026-04-01', '2026-04-10']],
    ['2026-04-10', '2026-04-20', ['2026-04-10', '2026-04-20']],
    ['2026-05-01', null, null],
    ['2026-01-01', '2026-04-01', null],
  ])('in force from %s to %s', (start, end, expected) => {
    const line = {
      start_date: `${start}T00:00:00Z`,
      end_date: end === null ? null : `${end}T00:00:00Z`,
    };
    expect(serviceWindow(cell, line)).toEqual(expected && period(...expected));
  });
});
