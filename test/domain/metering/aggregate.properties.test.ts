import fc from 'fast-check';
import { aggregate, type MeteredUsage } from '../../../domain/metering/aggregate.ts';
import { canonicalUsage, type LoggedEvent } from '../../../domain/metering/canonical-usage.ts';
import {
  AGGREGATION_TYPES,
  BUCKET_SIZES,
  type AggregationType,
  type MeterVersion,
  type UsageQuery,
} from '../../../domain/metering/usage.ts';
import { Decimal, sum } from '../../../domain/money.ts';
import { property } from '../../support/properties.ts';
import { ALL_ZONES, luxonLocal } from '../../support/second-calendar.ts';
import { JANUARY, question, SCOPE } from './usage-rows.ts';

const START = Date.parse(JANUARY.start);
const END = Date.parse(JANUARY.end);
const DAY = 86_400_000;

const value = fc
  .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: 0, max: 18 }))
  .map(([units, digits]) => new Decimal(`${units}e-${digits}`).toFixed());
const region = fc.constantFrom('', 'eu', 'us');

/** Rows of one customer around January, few distinct times so that ties happen, positions all different. */
const usage = fc
  .array(
    fc.record({
      timestamp: fc.oneof(
        fc.integer({ min: START - 40 * DAY, max: END + 40 * DAY }),
        fc.constantFrom(START - 1, START, END - 1, END),
      ),
      value,
      unique_value: fc.constantFrom('a', 'b', 'c', ''),
      dimensions: fc.record({ region, model: region }),
      source: region,
    }),
    { maxLength: 40 },
  )
  .map((rows) =>
    rows.map((row, index): MeteredUsage => ({
      ...SCOPE,
      meter_version_id: 'meterv_1',
      external_customer_id: 'customer_1',
      partition: index % 3,
      position: BigInt(index),
      ...row,
    })),
  );
const types = fc.constantFrom(...AGGREGATION_TYPES);
const additive = fc.constantFrom<AggregationType[]>('COUNT', 'SUM');

const rowsOf = (query: Partial<UsageQuery>, rows: readonly MeteredUsage[]) =>
  aggregate(question({ multiplier: '1.25', ...query }), rows).rows;
const quantityOf = (query: Partial<UsageQuery>, rows: readonly MeteredUsage[]) =>
  new Decimal(rowsOf(query, rows)[0]!.quantity);

/** Ample digits: the oracle must not round where the aggregator is exact. */
const Wide = Decimal.clone({ precision: 120 });

/** The definitions, written again with a decimal library. */
function defined(type: AggregationType, rows: readonly MeteredUsage[]): string {
  if (rows.length === 0) return '0';
  const values = rows.map((row) => new Wide(row.value));
  const total = values.reduce((left, right) => left.plus(right), new Wide(0));
  const results: Record<AggregationType, () => InstanceType<typeof Wide>> = {
    COUNT: () => new Wide(rows.length),
    SUM: () => total,
    AVG: () => total.div(rows.length),
    MAX: () => Wide.max(...values),
    MIN: () => Wide.min(...values),
    SUM_WITH_MULTIPLIER: () => total.times('1.25'),
    COUNT_UNIQUE: () => new Wide(new Set(rows.map((row) => row.unique_value)).size),
    LATEST: () =>
      new Wide(
        [...rows]
          .sort(
            (a, b) =>
              a.timestamp - b.timestamp ||
              Number(a.position - b.position) ||
              a.partition - b.partition,
          )
          .at(-1)!.value,
      ),
    WEIGHTED_SUM: () =>
      rows
        .reduce(
          (left, row) => left.plus(new Wide(row.value).times(END - row.timestamp)),
          new Wide(0),
        )
        .div(END - START),
  };
  return results[type]().toDecimalPlaces(18, Decimal.ROUND_HALF_UP).toFixed().replace(/^-0$/, '0');
}

describe('the aggregator', () => {
  property(
    'agrees with the definitions written down a second time',
    fc.property(types, usage, (aggregation, rows) => {
      const inside = rows.filter(({ timestamp }) => timestamp >= START && timestamp < END);
      expect(rowsOf({ aggregation }, rows)).toEqual([
        {
          group: [],
          window_start: null,
          quantity: defined(aggregation, inside),
          event_count: inside.length,
        },
      ]);
    }),
    { quick: 300, deep: 20_000 },
  );

  property(
    'does not care in which order rows come',
    fc.property(
      types,
      usage.chain((rows) =>
        fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows, { minLength: rows.length })),
      ),
      fc.constantFrom<Partial<UsageQuery>[]>(
        {},
        { group_by: ['region'] },
        { group_by: ['model', 'source'] },
        { reset_usage: 'NEVER' },
        { window: { bucket_size: 'DAY', timezone: 'Asia/Kathmandu', billing_anchor: null } },
      ),
      (aggregation, [rows, shuffled], query) => {
        expect(rowsOf({ aggregation, ...query }, shuffled)).toEqual(
          rowsOf({ aggregation, ...query }, rows),
        );
      },
    ),
    { quick: 200, deep: 10_000 },
  );

  property(
    'groups, windows and customers are parts of the whole',
    fc.property(
      additive,
      usage,
      fc.constantFrom(...ALL_ZONES),
      fc.constantFrom(...BUCKET_SIZES),
      (aggregation, rows, timezone, bucket_size) => {
        const whole = quantityOf({ aggregation }, rows);
        const parts = (query: Partial<UsageQuery>) =>
          sum(rowsOf({ aggregation, ...query }, rows).map(({ quantity }) => new Decimal(quantity)));
        const window = { bucket_size, timezone, billing_anchor: null };
        expect(parts({ group_by: ['region'] }).eq(whole)).toBe(true);
        expect(parts({ group_by: ['region', 'model', 'source'] }).eq(whole)).toBe(true);
        expect(parts({ window }).eq(whole)).toBe(true);
        expect(parts({ window, group_by: ['region'] }).eq(whole)).toBe(true);
        const filters = ['eu', 'us'].map((name) => ({ region: [name] }));
        const matched = filters.map((filter_values) =>
          quantityOf({ aggregation, filter_values }, rows),
        );
        const rest = quantityOf({ aggregation, excluded_filter_values: filters }, rows);
        expect(sum([...matched, rest]).eq(whole)).toBe(true);
      },
    ),
    { quick: 100, deep: 4_000 },
  );

  property(
    'the maximum of the windows is the maximum, and days are those of the zone',
    fc.property(usage, fc.constantFrom(...ALL_ZONES), (rows, timezone) => {
      const inside = rows.filter(({ timestamp }) => timestamp >= START && timestamp < END);
      const window = { bucket_size: 'DAY', timezone, billing_anchor: null } as const;
      const days = rowsOf({ aggregation: 'MAX', window }, rows);
      const local = new Set(
        inside.map(({ timestamp }) => luxonLocal(timezone, timestamp).toISODate()),
      );
      expect(
        new Set(days.map((day) => luxonLocal(timezone, Date.parse(day.window_start!)).toISODate())),
      ).toEqual(local);
      if (days.length > 0) {
        const greatest = Decimal.max(...days.map(({ quantity }) => quantity));
        expect(greatest.eq(quantityOf({ aggregation: 'MAX' }, rows))).toBe(true);
      }
    }),
    { quick: 100, deep: 4_000 },
  );

  property(
    'lifetime values of neighbouring periods follow from each other',
    fc.property(usage, (rows) => {
      const before = rows.filter(({ timestamp }) => timestamp < START);
      const lifetime = quantityOf({ reset_usage: 'NEVER' }, rows);
      const carried = sum(before.map((row) => new Decimal(row.value)));
      expect(lifetime.minus(carried).eq(quantityOf({}, rows))).toBe(true);
      const weighted = quantityOf({ aggregation: 'WEIGHTED_SUM', reset_usage: 'NEVER' }, rows);
      const own = quantityOf({ aggregation: 'WEIGHTED_SUM' }, rows);
      expect(weighted.minus(carried).minus(own).abs().lte('1e-17')).toBe(true);
    }),
    { quick: 200, deep: 10_000 },
  );
});

describe('canonical usage', () => {
  const version: MeterVersion = {
    ...SCOPE,
    id: 'meterv_1',
    meter_id: 'meter_1',
    version: 1,
    dimensions: [],
    spec: {
      event_name: 'call',
      filters: [],
      reset_usage: 'BILLING_PERIOD',
      aggregation: {
        type: 'SUM',
        field: 'n',
        expression: null,
        multiplier: null,
        group_by: null,
        bucket_size: null,
      },
    },
  };
  const logs = fc
    .array(
      fc.record({
        event_id: fc.constantFrom('a', 'b', 'c', 'd'),
        n: fc.oneof(fc.integer(), fc.constant('no number')),
        kind: fc.oneof(
          { arbitrary: fc.constant('usage' as const), weight: 5 },
          { arbitrary: fc.constant('void' as const), weight: 1 },
        ),
      }),
      { maxLength: 20 },
    )
    .map((entries) =>
      entries.map(({ event_id, n, kind }, index): LoggedEvent => ({
        ...SCOPE,
        kind,
        event_id,
        event_name: 'call',
        external_customer_id: 'customer_1',
        timestamp: START + index,
        source: '',
        properties: { n },
        partition: 0,
        position: BigInt(index),
      })),
    );
  const byPosition = (rows: readonly MeteredUsage[]) =>
    [...rows].sort((a, b) => Number(a.position - b.position));

  property(
    'is what one reading of the log in order gives, for any order of its entries and any copies',
    fc.property(
      logs.chain((log) =>
        fc.tuple(
          fc.constant(log),
          fc.shuffledSubarray(log, { minLength: log.length }),
          fc.subarray(log),
        ),
      ),
      ([log, shuffled, again]) => {
        // In order: the first copy of an id stands until a void of it comes.
        const seen = new Set<string>();
        const standing = new Map<string, bigint>();
        for (const entry of log) {
          if (entry.kind === 'void') standing.delete(entry.event_id);
          else if (!seen.has(entry.event_id)) {
            seen.add(entry.event_id);
            if (typeof entry.properties['n'] === 'number') {
              standing.set(entry.event_id, entry.position);
            }
          }
        }
        const expected = [...standing.values()].sort((a, b) => Number(a - b));
        const rows = byPosition(canonicalUsage(version, log));
        expect(rows.map(({ position }) => position)).toEqual(expected);
        expect(byPosition(canonicalUsage(version, shuffled))).toEqual(rows);
        // A replay delivers entries again at their own positions.
        expect(byPosition(canonicalUsage(version, [...log, ...again]))).toEqual(rows);
        // A resend is a later copy with any content.
        const copies = again
          .filter(({ kind }) => kind === 'usage')
          .map((entry, index) => ({
            ...entry,
            properties: { n: 999 },
            position: BigInt(log.length + index),
          }));
        expect(byPosition(canonicalUsage(version, [...log, ...copies]))).toEqual(rows);
      },
    ),
    { quick: 300, deep: 20_000 },
  );
});
