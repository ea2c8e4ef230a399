import {
  filtersOverlap,
  matchesFilter,
  refuseUsageRatedTwice,
  selectUsage,
  specificity,
  type UsageSelector,
} from '../../../domain/pricing/filter-values.ts';
import type { FilterValues } from '../../../domain/metering/usage.ts';
import { refusalOf } from '../../support/refusal.ts';
import { at } from './lines.ts';

const line = (
  id: string,
  filter_values: FilterValues,
  start = '2026-01-01',
  end: string | null = null,
  meter_id = 'meter_1',
): UsageSelector => ({
  id,
  price_id: `price_${id}`,
  meter_id,
  filter_values,
  start_date: at(start),
  end_date: end === null ? null : at(end),
});

describe('which events a filter takes (2.5)', () => {
  test.each`
    filter                                  | properties                          | matches
    ${{}}                                   | ${{}}                               | ${true}
    ${{}}                                   | ${{ region: 'eu' }}                 | ${true}
    ${{ region: ['eu'] }}                   | ${{ region: 'eu' }}                 | ${true}
    ${{ region: ['us', 'eu'] }}             | ${{ region: 'eu' }}                 | ${true}
    ${{ region: ['us'] }}                   | ${{ region: 'eu' }}                 | ${false}
    ${{ region: ['eu'] }}                   | ${{}}                               | ${false}
    ${{ region: ['eu'], model: ['large'] }} | ${{ region: 'eu' }}                 | ${false}
    ${{ region: ['eu'], model: ['large'] }} | ${{ region: 'eu', model: 'large' }} | ${true}
    ${{ region: [''] }}                     | ${{ region: '' }}                   | ${true}
  `('$filter on $properties: $matches', ({ filter, properties, matches }) => {
    expect(matchesFilter(filter, properties)).toBe(matches);
  });
});

describe('whether one event can satisfy two filters (2.5)', () => {
  test.each`
    left                                | right                               | overlap
    ${{}}                               | ${{}}                               | ${true}
    ${{ region: ['eu'] }}               | ${{}}                               | ${true}
    ${{ region: ['eu'] }}               | ${{ region: ['us'] }}               | ${false}
    ${{ region: ['eu', 'us'] }}         | ${{ region: ['us', 'jp'] }}         | ${true}
    ${{ region: ['eu'] }}               | ${{ model: ['large'] }}             | ${true}
    ${{ region: ['eu'], model: ['a'] }} | ${{ region: ['eu'], model: ['b'] }} | ${false}
    ${{ region: ['eu'], model: ['a'] }} | ${{ region: ['eu'] }}               | ${true}
  `('$left and $right: $overlap', ({ left, right, overlap }) => {
    expect(filtersOverlap(left, right)).toBe(overlap);
    expect(filtersOverlap(right, left)).toBe(overlap);
  });

  test('more keys are more specific, more values are not', () => {
    expect(specificity({})).toBe(0);
    expect(specificity({ region: ['eu', 'us', 'jp'] })).toBe(1);
    expect(specificity({ region: ['eu'], model: ['a'] })).toBe(2);
  });
});

describe('the events of a line are those that no more specific line takes (2.5)', () => {
  const [from, until] = [at('2026-01-01'), at('2026-02-01')];
  const excluded = (target: UsageSelector, others: UsageSelector[]) =>
    selectUsage(target, others, from, until).excluded_filter_values;
  const catchAll = line('all', {});
  const europe = line('eu', { region: ['eu'] });
  const large = line('eu-large', { region: ['eu'], model: ['large'] });

  test('a catch-all leaves out what the others take, and they leave out what is more specific', () => {
    const lines = [catchAll, europe, large];
    expect(excluded(catchAll, lines)).toEqual([{ region: ['eu'] }, large.filter_values]);
    expect(excluded(europe, lines)).toEqual([large.filter_values]);
    expect(excluded(large, lines)).toEqual([]);
  });

  test('filters that cannot meet are not left out', () => {
    const asia = line('jp-large', { region: ['jp'], model: ['large'] });
    expect(excluded(europe, [asia])).toEqual([]);
  });

  test('an equally specific filter removes no events, matched or not', () => {
    const both = line('eu-us', { region: ['eu', 'us'] });
    expect(excluded(europe, [both])).toEqual([]);
    expect(excluded(europe, [europe])).toEqual([]);
  });

  test('lines of other meters do not matter', () => {
    const other = line('other', { region: ['eu'] }, '2026-01-01', null, 'meter_2');
    expect(excluded(catchAll, [other])).toEqual([]);
  });

  test('a line with more keys takes its events while it runs, and the rest is one selection', () => {
    const brief = line('brief', { region: ['eu'] }, '2026-01-10', '2026-01-20');
    const late = line('late', { region: ['us'] }, '2026-01-20');
    expect(selectUsage(catchAll, [brief, late, europe], from, until)).toEqual({
      start: from,
      end: until,
      filter_values: {},
      excluded_filter_values: [{ region: ['eu'] }],
      excluded_during: [
        {
          start: brief.start_date,
          end: brief.end_date,
          filter_values: { region: ['eu'] },
          external_customer_ids: null,
        },
        {
          start: late.start_date,
          end: until,
          filter_values: { region: ['us'] },
          external_customer_ids: null,
        },
      ],
    });
  });

  test.each`
    start           | end             | whole | part
    ${'2025-06-01'} | ${'2026-01-01'} | ${0}  | ${0}
    ${'2025-06-01'} | ${'2026-02-01'} | ${1}  | ${0}
    ${'2026-01-01'} | ${null}         | ${1}  | ${0}
    ${'2026-02-01'} | ${null}         | ${0}  | ${0}
    ${'2026-01-31'} | ${'2026-03-01'} | ${0}  | ${1}
    ${'2025-12-01'} | ${'2026-01-31'} | ${0}  | ${1}
  `('from $start to $end: $whole for all of the time, $part for a part', (row) => {
    const other = line('other', { region: ['eu'] }, row.start, row.end);
    const selected = selectUsage(catchAll, [other], from, until);
    expect(selected.excluded_filter_values).toHaveLength(row.whole);
    expect(selected.excluded_during).toHaveLength(row.part);
    expect(selected).toMatchObject({ start: from, end: until });
  });
});

describe('two lines that would bill the same event are refused (2.5, money 12.1)', () => {
  const refused = (...lines: UsageSelector[]) => refusalOf(() => refuseUsageRatedTwice(lines));
  const fine = (...lines: UsageSelector[]) => expect(refuseUsageRatedTwice(lines)).toBeUndefined();

  test('the same meter without filters', () => {
    const refusal = refused(line('a', {}), line('b', {}));
    expect(refusal).toMatchObject({
      kind: 'invalid',
      code: 'validation_error',
      message:
        'prices price_a and price_b would both bill the same usage of meter meter_1: ' +
        'tell their events apart by filter_values',
    });
    expect(refusal.details).toMatchObject([{ path: 'line_items', code: 'usage_rated_twice' }]);
  });

  test('names of prices and meters stand before their ids', () => {
    const [first, second] = [line('a', {}), line('b', {})];
    const { message } = refused(
      { ...first, price_name: 'Tokens' },
      { ...second, price_name: 'All tokens', meter_name: 'Completions' },
    );
    expect(message).toBe(
      'prices “Tokens” (price_a) and “All tokens” (price_b) would both bill the same usage of meter ' +
        '“Completions” (meter_1): tell their events apart by filter_values',
    );
  });

  test('equally specific filters that can meet', () => {
    refused(line('a', { region: ['eu', 'us'] }), line('b', { region: ['us'] }));
    refused(line('a', { region: ['eu'] }), line('b', { model: ['large'] }));
  });

  test('the path is the caller’s', () => {
    const lines = [line('a', {}), line('b', {})];
    const refusal = refusalOf(() => refuseUsageRatedTwice(lines, 'addons[0]'));
    expect(refusal.details[0]!.path).toBe('addons[0]');
  });

  test('accepted: other meters, other values, other specificity', () => {
    fine(line('a', {}), line('b', {}, '2026-01-01', null, 'meter_2'));
    fine(line('a', { region: ['eu'] }), line('b', { region: ['us'] }));
    fine(line('a', { region: ['eu'] }), line('b', {}));
    fine();
  });

  test('accepted: one after the other, as versions of one line are', () => {
    fine(line('a', {}, '2026-01-01', '2026-02-01'), line('b', {}, '2026-02-01'));
    fine(line('b', {}, '2026-02-01'), line('a', {}, '2026-01-01', '2026-02-01'));
  });

  test('refused: one millisecond together', () => {
    refused(line('a', {}, '2026-01-01', '2026-02-01'), {
      ...line('b', {}),
      start_date: '2026-01-31T23:59:59.999Z',
    });
    refused(line('b', {}, '2026-01-15'), line('a', {}, '2026-01-01', '2026-02-01'));
  });

  test('every pair is compared', () => {
    const lines = [
      line('a', { region: ['eu'] }),
      line('b', { region: ['us'] }),
      line('c', {}),
      line('d', { region: ['us', 'jp'] }),
    ];
    expect(refused(...lines).message).toContain('price_b and price_d');
  });
});
