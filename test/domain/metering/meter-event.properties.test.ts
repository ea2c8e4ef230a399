import fc from 'fast-check';
import { matchesFilterValues } from '../../../domain/metering/match.ts';
import { compileMeter } from '../../../domain/metering/meter-event.ts';
import type { AggregationType, MeterVersion } from '../../../domain/metering/usage.ts';
import { property } from '../../support/properties.ts';
import { SCOPE } from './usage-rows.ts';

const names = ['region', 'model', 'tier', 'constructor', '__proto__', 'a.b'] as const;
const scalar = fc.oneof(
  fc.constantFrom<unknown[]>('eu', 'us', '', '5', 'true', 5, 5.5, -0, true, false),
  fc.constantFrom<unknown[]>(null, [], ['eu'], {}, { eu: 1 }),
);
/** As the stream gets them: out of JSON text, so that `__proto__` is an ordinary key. */
const properties = fc
  .array(fc.tuple(fc.constantFrom(...names), scalar), { maxLength: 6 })
  .map((entries) => {
    const members = new Map(entries.map(([name, value]) => [name, JSON.stringify(value)]));
    const text = [...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',');
    return { entries: members, parsed: JSON.parse(`{${text}}`) as Record<string, unknown> };
  });
const filters = fc.array(
  fc.record({
    key: fc.constantFrom(...names),
    values: fc.uniqueArray(fc.constantFrom('eu', 'us', '', '5', '5.5', '0', 'true', 'null', '[]'), {
      minLength: 1,
      maxLength: 4,
    }),
  }),
  { maxLength: 3 },
);
const types = fc.constantFrom<AggregationType[]>('COUNT', 'COUNT_UNIQUE', 'SUM', 'LATEST');

function version(
  type: AggregationType,
  filterList: MeterVersion['spec']['filters'],
  field: string,
): MeterVersion {
  return {
    ...SCOPE,
    id: 'meterv_1',
    meter_id: 'meter_1',
    version: 1,
    dimensions: ['model', 'region'],
    spec: {
      event_name: 'call',
      filters: filterList,
      reset_usage: 'BILLING_PERIOD',
      aggregation: {
        type,
        field: type === 'COUNT' ? null : field,
        expression: null,
        multiplier: null,
        group_by: null,
        bucket_size: null,
      },
    },
  };
}

/** Text of a scalar by its JSON text: the text between the quotes, or the literal. */
function jsonText(json: string | undefined): string | null {
  if (json === undefined || json === 'null' || /^[[{]/.test(json)) return null;
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

describe('an event and a meter', () => {
  property(
    'matched, metered and grouped by the texts of the JSON that was sent',
    fc.property(
      types,
      filters,
      properties,
      fc.constantFrom(...names),
      (type, list, sent, field) => {
        const result = compileMeter(version(type, list, field))({
          event_name: 'call',
          properties: sent.parsed,
        });
        const textOf = (name: string) => jsonText(sent.entries.get(name as (typeof names)[number]));
        const matched = list.every(({ key, values }) => {
          const text = textOf(key);
          return text !== null && (values as readonly string[]).includes(text);
        });
        expect(result.outcome === 'unmatched').toBe(!matched);
        if (result.outcome === 'unmatched') return;

        const text = textOf(field);
        const numeric = text !== null && /^-?\d/.test(text);
        const countable = {
          COUNT: true,
          COUNT_UNIQUE: text !== null,
          SUM: numeric,
          LATEST: numeric,
        };
        expect(result.outcome).toBe(
          countable[type as keyof typeof countable] ? 'metered' : 'unmetered',
        );
        if (result.outcome !== 'metered') return;
        expect(result.unique_value).toBe(type === 'COUNT_UNIQUE' ? text : null);
        expect(result.value).toBe(type === 'SUM' || type === 'LATEST' ? text : '1');
        expect(result.dimensions).toEqual([textOf('model') ?? '', textOf('region') ?? '']);
      },
    ),
    { quick: 500, deep: 20_000 },
  );

  property(
    'another event name never matches',
    fc.property(types, properties, fc.string(), (type, sent, event_name) => {
      fc.pre(event_name !== 'call');
      const meter = compileMeter(version(type, [], 'region'));
      expect(meter({ event_name, properties: sent.parsed })).toEqual({ outcome: 'unmatched' });
    }),
    { quick: 100, deep: 5_000 },
  );

  property(
    'filter values of a price: more keys match less, more values match more',
    fc.property(
      fc.dictionary(fc.constantFrom('region', 'model'), fc.constantFrom('eu', 'us', '')),
      fc.dictionary(
        fc.constantFrom('region', 'model'),
        fc.array(fc.constantFrom('eu', 'us'), { maxLength: 2 }),
      ),
      (values, filter) => {
        const valueOf = (name: string) => values[name] ?? '';
        const matches = matchesFilterValues(filter, valueOf);
        expect(matchesFilterValues({}, valueOf)).toBe(true);
        for (const key of Object.keys(filter)) {
          const { [key]: _, ...fewer } = filter;
          if (matches) expect(matchesFilterValues(fewer, valueOf)).toBe(true);
          const wider = { ...filter, [key]: ['eu', 'us'] };
          if (matches) expect(matchesFilterValues(wider, valueOf)).toBe(true);
          expect(matchesFilterValues({ ...filter, [key]: [] }, valueOf)).toBe(false);
        }
      },
    ),
    { quick: 200, deep: 10_000 },
  );
});
