import type { ApiRecord } from '../../client/api.ts';
import { Facts } from '../../ui/facts.tsx';
import { Stack } from '../../ui/page.tsx';
import { formatDay, formatWord } from '../../ui/text.ts';
import type { MeterBody } from './definition.ts';
import { inWords } from './in-words.ts';
import { MeterPrices } from './meter-prices.tsx';

type Meter = ApiRecord<'Meter'>;

/** The effect of a change of a meter on its versions, and on the periods that they bill. */
export function Effect({
  meter,
  changed,
  effectiveDay,
}: {
  readonly meter: Meter;
  readonly changed: MeterBody;
  readonly effectiveDay: string;
}) {
  const differences = differencesOf(meter, changed);
  const isRename = differences.length === 0;
  return (
    <Stack>
      {isRename ? (
        <p>
          {meter.name === changed.name
            ? 'Nothing is changed.'
            : 'Only the name changes. The meter counts as before, and no version is created.'}
        </p>
      ) : (
        <>
          <Facts of={differences} />
          <p>
            This change creates a new version of the meter and recounts past events. The current
            version stays active until the recount is complete and checked.
          </p>
          <p>
            {effectiveDay === ''
              ? 'Current periods are billed with the current version, later periods with the new one.'
              : `Periods that begin on or after ${formatDay(`${effectiveDay}T00:00:00Z`, 'UTC')} are billed by the new version, also if they are open now. Finalized invoices do not change.`}
          </p>
          <MeterPrices meterId={meter.id} />
        </>
      )}
    </Stack>
  );
}

/** What the meter counts now, and what it will count. */
function differencesOf(meter: Meter, changed: MeterBody): (readonly [string, string])[] {
  const { aggregation } = changed;
  const optional = (name: 'multiplier' | 'group_by' | 'bucket_size') =>
    [formatWord(name), meter.aggregation[name] ?? 'none', aggregation[name] || 'none'] as const;
  const rows = [
    ['Event name', meter.event_name, changed.event_name],
    [
      'Aggregation',
      inWords(meter),
      inWords({
        aggregation: {
          type: aggregation.type,
          field: aggregation.field ?? null,
          expression: aggregation.expression ?? null,
          group_by: null,
          multiplier: null,
          bucket_size: null,
        },
      }),
    ],
    optional('multiplier'),
    optional('group_by'),
    optional('bucket_size'),
    ['Usage resets', formatWord(meter.reset_usage), formatWord(changed.reset_usage)],
    ...(changed.filters ?? []).map(({ key, values }) => {
      const before = meter.filters.find((filter) => filter.key === key)?.values ?? [];
      return [
        `Only where ${key}`,
        before.join(' or ') || 'any value',
        values.join(' or '),
      ] as const;
    }),
  ] as const;
  return rows
    .filter(([, before, after]) => before !== after)
    .map(([name, before, after]) => [name, `${before} → ${after}`] as const);
}
