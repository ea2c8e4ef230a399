import { Decimal } from '../../../domain/money.ts';
import { applyTermCommitment } from '../../../domain/pricing/term-commitment.ts';
import {
  termAt,
  termPosition,
  type TermSchedule,
} from '../../../domain/pricing/commitment-term.ts';
import { at, span } from './lines.ts';

const schedule = (
  start: string,
  anchor = start,
  rest: Partial<TermSchedule> = {},
): TermSchedule => ({
  start_date: at(start),
  billing_anchor: at(anchor),
  billing_cycle: 'anniversary',
  customer_timezone: 'UTC',
  ...rest,
});

describe('the term that holds an instant (6.4)', () => {
  test.each`
    what                 | at                    | term
    ${'its start'}       | ${'2026-01-31'}       | ${['2026-01-31', '2027-01-31']}
    ${'its last day'}    | ${'2027-01-30T23:59'} | ${['2026-01-31', '2027-01-31']}
    ${'the second term'} | ${'2027-01-31'}       | ${['2027-01-31', '2028-01-31']}
    ${'the fifth term'}  | ${'2030-06-01'}       | ${['2030-01-31', '2031-01-31']}
  `('ANNUAL from 31 January: $what', ({ at: instant, term }) => {
    expect(termAt(schedule('2026-01-31'), 'ANNUAL', at(instant))).toEqual(span(term[0], term[1]));
  });

  test('an opening stub belongs to the first term', () => {
    const calendar = schedule('2026-01-20', '2026-02-01', { billing_cycle: 'calendar' });
    expect(termAt(calendar, 'ANNUAL', at('2026-01-20'))).toEqual(span('2026-01-20', '2027-02-01'));
    expect(termAt(calendar, 'ANNUAL', at('2027-01-31'))).toEqual(span('2026-01-20', '2027-02-01'));
    expect(termAt(calendar, 'ANNUAL', at('2027-02-01'))).toEqual(span('2027-02-01', '2028-02-01'));
  });

  test('clamped month ends return to their own day', () => {
    const quarterly = schedule('2025-11-30');
    expect(termAt(quarterly, 'QUARTERLY', at('2025-12-01'))).toEqual(
      span('2025-11-30', '2026-02-28'),
    );
    expect(termAt(quarterly, 'QUARTERLY', at('2026-02-28'))).toEqual(
      span('2026-02-28', '2026-05-30'),
    );
  });

  test('an anchor before the start gives a first term up to its next boundary', () => {
    const earlier = schedule('2026-03-20', '2025-01-01');
    expect(termAt(earlier, 'ANNUAL', at('2026-03-20'))).toEqual(span('2026-03-20', '2027-01-01'));
    expect(termAt(earlier, 'ANNUAL', at('2027-01-01'))).toEqual(span('2027-01-01', '2028-01-01'));
  });

  test('in the customer’s zone', () => {
    const kolkata = schedule('2026-02-28T18:30', '2026-02-28T18:30', {
      customer_timezone: 'Asia/Kolkata',
      billing_cycle: 'calendar',
    });
    expect(termAt(kolkata, 'MONTHLY', at('2026-03-01'))).toEqual(
      span('2026-02-28T18:30', '2026-03-31T18:30'),
    );
  });
});

describe('the position of a period in its term (6.4)', () => {
  const term = span('2026-01-01', '2027-01-01');
  const entry = (start: string, base: string) => ({
    period_start: at(start),
    base_usage: new Decimal(base),
  });
  const position = (
    period: readonly [string, string],
    more: Partial<Parameters<typeof termPosition>[0]> = {},
  ) =>
    termPosition({
      term,
      commitment: new Decimal(1200),
      ledger: [
        entry('2025-12-01', '1'),
        entry('2026-01-01', '10'),
        entry('2026-02-01', '100'),
        entry('2026-03-01', '1000'),
      ],
      period: span(...period),
      ends_at: null,
      proration_behavior: 'none',
      ...more,
    });

  test('earlier periods of the same term count; others, and the period itself, do not', () => {
    expect(position(['2026-01-01', '2026-02-01']).priorUsage.toFixed()).toBe('0');
    expect(position(['2026-02-01', '2026-03-01']).priorUsage.toFixed()).toBe('10');
    expect(position(['2026-03-01', '2026-04-01']).priorUsage.toFixed()).toBe('110');
    expect(position(['2026-04-01', '2026-05-01']).priorUsage.toFixed()).toBe('1110');
  });

  test.each`
    period                          | last
    ${['2026-11-01', '2026-12-01']} | ${false}
    ${['2026-12-01', '2027-01-01']} | ${true}
    ${['2026-12-28', '2027-01-04']} | ${true}
    ${['2026-12-21', '2026-12-28']} | ${false}
  `('$period is the last one: $last', ({ period, last }) => {
    expect(position(period).lastPeriod).toBe(last);
    expect(position(period).commitment.toFixed()).toBe('1200');
    expect(position(period).term).toEqual(term);
  });

  test.each`
    behavior               | commitment
    ${'none'}              | ${'1200'}
    ${'create_prorations'} | ${'295.89'}
  `('a subscription that ends within the term: $behavior asks for $commitment', (row) => {
    const cut = { ends_at: at('2026-04-01'), proration_behavior: row.behavior };
    const found = position(['2026-03-01', '2026-04-01'], cut);
    expect(found.commitment.toDecimalPlaces(2).toFixed()).toBe(row.commitment);
    expect(found.lastPeriod).toBe(true);
    expect(position(['2026-02-01', '2026-03-01'], cut).lastPeriod).toBe(false);
  });

  test('an end at the end of the term cuts nothing', () => {
    const cut = { ends_at: term.end, proration_behavior: 'create_prorations' as const };
    expect(position(['2026-12-01', '2027-01-01'], cut).commitment.toFixed()).toBe('1200');
    const later = { ...cut, ends_at: at('2028-01-01') };
    expect(position(['2026-11-01', '2026-12-01'], later)).toMatchObject({ lastPeriod: false });
  });
});

describe('one period of a term (6.4)', () => {
  const apply = (
    usage: string,
    prior: string,
    lastPeriod: boolean,
    trueUpEnabled = true,
    factor = '2',
  ) => {
    const outcome = applyTermCommitment(
      new Decimal(usage),
      { overageFactor: new Decimal(factor), trueUpEnabled },
      {
        term: span('2026-01-01', '2027-01-01'),
        commitment: new Decimal(60),
        priorUsage: new Decimal(prior),
        lastPeriod,
      },
    );
    const { utilized, overage, trueUp, charge } = outcome;
    return [utilized, overage, trueUp, charge].map((value) => value.toFixed()).join(' ');
  };

  test.each`
    usage   | prior   | last     | trueUp   | expected
    ${'12'} | ${'70'} | ${false} | ${false} | ${'0 24 0 24'}
    ${'30'} | ${'0'}  | ${false} | ${true}  | ${'30 0 0 30'}
    ${'60'} | ${'0'}  | ${true}  | ${true}  | ${'60 0 0 60'}
    ${'61'} | ${'0'}  | ${true}  | ${true}  | ${'60 2 0 62'}
    ${'20'} | ${'50'} | ${false} | ${true}  | ${'10 20 0 30'}
    ${'5'}  | ${'50'} | ${true}  | ${true}  | ${'5 0 5 10'}
    ${'5'}  | ${'50'} | ${true}  | ${false} | ${'5 0 0 5'}
    ${'5'}  | ${'60'} | ${true}  | ${true}  | ${'0 10 0 10'}
    ${'0'}  | ${'0'}  | ${true}  | ${true}  | ${'0 0 60 60'}
  `('$usage after $prior: within, overage, true-up, charge', (row) => {
    expect(apply(row.usage, row.prior, row.last, row.trueUp)).toBe(row.expected);
  });

  test('negative figures and a factor below 1 are bugs', () => {
    expect(() => apply('-1', '0', false)).toThrow('negative usage or commitment');
    expect(() => apply('1', '-1', false)).toThrow('negative usage or commitment');
    expect(() => apply('1', '0', false, true, '0.5')).toThrow('an overage factor below 1');
  });
});
