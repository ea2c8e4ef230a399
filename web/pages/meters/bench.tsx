import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo, useState } from 'react';
import type { ApiRecord } from '../../client/api.ts';
import { Badge } from '../../ui/badge.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Card, Section } from '../../ui/page.tsx';
import { Failure } from '../../ui/query-state.tsx';
import { Quantity } from '../../ui/money.tsx';
import styles from './bench.module.css';

type Result = ApiRecord<'MeterTestResult'>;
export type SentEvent = ApiRecord<'TestMeter'>['event'];

/** An event to begin with: one that the meter listens to, with a value for each property that it reads. */
function exampleFor(meter: {
  readonly event_name: string;
  readonly field: string;
  readonly filters: readonly { readonly key: string; readonly values: readonly string[] }[];
}): string {
  const filtered = meter.filters.flatMap(({ key, values }) =>
    values[0] === undefined ? [] : [[key, values[0]] as const],
  );
  const properties = {
    ...(meter.field === '' ? {} : { [meter.field]: 42 }),
    ...Object.fromEntries(filtered),
  };
  const rest = { event_name: meter.event_name, external_customer_id: 'acme', properties };
  return JSON.stringify({ event_id: 'try-1', ...rest }, null, 2);
}

/** The same for a meter that is stored. */
export const exampleOf = ({ event_name, aggregation, filters }: ApiRecord<'Meter'>): string =>
  exampleFor({ event_name, field: aggregation.field ?? '', filters });

const EXAMPLE = exampleFor({
  event_name: 'completion',
  field: 'tokens',
  filters: [{ key: 'region', values: ['eu'] }],
});

/**
 * Shows the result of the meter for a pasted event, and updates it when either changes. The server evaluates
 * the event with the code that meters events, and stores nothing.
 */
export function Bench({
  definition,
  example = EXAMPLE,
  evaluate,
}: {
  /** Changes when the meter changes. */
  readonly definition: unknown;
  /** The event to begin with. */
  readonly example?: string;
  readonly evaluate: (event: SentEvent) => Promise<Result>;
}) {
  const [text, setText] = useState(example);
  // Texts, because a value that is created at each render would be deferred again and again.
  const pasted = useDeferredValue(text);
  const event = useMemo(() => eventOf(pasted), [pasted]);
  const tried = useDeferredValue(JSON.stringify(definition));
  const result = useQuery({
    queryKey: ['bench', pasted, tried],
    queryFn: () => evaluate(event as SentEvent),
    enabled: event !== null && definition !== null,
    retry: false,
    placeholderData: (before) => before,
  });
  return (
    <Section title="Test with an event">
      <Card>
        <label className={styles.label}>
          Event as JSON
          <textarea
            className={styles.event}
            rows={7}
            spellCheck={false}
            value={text}
            aria-invalid={event === null}
            onChange={({ target }) => setText(target.value)}
          />
        </label>
        <div className={styles.result} role="status">
          {event === null ? <p>This is not valid JSON.</p> : null}
          {definition === null ? <p>Complete the meter to see the result for this event.</p> : null}
          {result.isError ? <Failure error={result.error} /> : null}
          {event !== null && result.data !== undefined && !result.isError ? (
            <Verdict of={result.data} />
          ) : null}
        </div>
      </Card>
    </Section>
  );
}

function Verdict({ of }: { readonly of: Result }) {
  const { value, group, bucket } = of;
  return (
    <>
      <p className={styles.verdict}>
        {of.is_metered ? (
          <Badge tone="positive">Counted</Badge>
        ) : (
          <Badge tone={of.matches ? 'negative' : 'warning'}>
            {of.matches ? 'Rejected' : 'Not matched'}
          </Badge>
        )}{' '}
        {of.message}
      </p>
      <Facts
        of={[
          [
            'Event name',
            <Check key="name" isRight={of.event_name.matches}>
              {of.event_name.matches
                ? of.event_name.found
                : `is ${of.event_name.found}, wanted ${of.event_name.wanted}`}
            </Check>,
          ],
          ...of.filters.map(
            ({ key, wanted, found, matches }) =>
              [
                `Filter ${key}`,
                <Check key={key} isRight={matches}>
                  {found ?? 'is missing'}
                  {matches ? '' : `, wanted ${wanted.join(' or ')}`}
                </Check>,
              ] as const,
          ),
          ['Value', value === null ? '–' : <Quantity key="value" value={value.quantity} />],
          ...(value === null || value.multiplier === null
            ? []
            : ([['Multiplied', <Quantity key="multiplied" value={value.multiplied} />]] as const)),
          ['Group', group === null ? 'None' : group === '' ? 'The empty group' : group],
          ...(bucket === null
            ? []
            : ([
                [
                  'Bucket',
                  `${bucket.bucket_size} from ${bucket.window_start} (${bucket.timezone})`,
                ],
              ] as const)),
          ['Customer', of.customer_id ?? 'No such customer yet'],
          [
            'Billed by',
            of.charges.length === 0
              ? 'No subscription line'
              : of.charges.map(({ display_name, price_id }) => display_name ?? price_id).join(', '),
          ],
        ]}
      />
    </>
  );
}

function Check({
  isRight,
  children,
}: {
  readonly isRight: boolean;
  readonly children: React.ReactNode;
}) {
  return (
    <>
      <Badge tone={isRight ? 'positive' : 'warning'}>{isRight ? 'matches' : 'differs'}</Badge>{' '}
      {children}
    </>
  );
}

function eventOf(text: string): SentEvent | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as SentEvent) : null;
  } catch {
    return null;
  }
}
