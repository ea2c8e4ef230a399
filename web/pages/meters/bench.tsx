import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo, useState } from 'react';
import { countedBy, exampleFor } from '../../app/example-event.ts';
import type { ApiRecord } from '../../client/api.ts';
import { Badge } from '../../ui/badge.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Card, Section } from '../../ui/page.tsx';
import { Failure } from '../../ui/query-state.tsx';
import { Quantity } from '../../ui/money.tsx';
import styles from './bench.module.css';

type Result = ApiRecord<'MeterTestResult'>;
export type SentEvent = ApiRecord<'TestMeter'>['event'];

/** The event to begin with, as it is pasted. */
const pastedFor = (meter: Parameters<typeof exampleFor>[0]): string =>
  JSON.stringify(exampleFor(meter, 'try-1'), null, 2);

/** The event to begin with for a meter as the API has it. */
export const exampleOf = (meter: Parameters<typeof countedBy>[0]): string =>
  pastedFor(countedBy(meter));

const EXAMPLE = pastedFor({
  event_name: 'completion',
  field: 'tokens',
  filters: [{ key: 'region', values: ['eu'] }],
});

/** Room for an event that is about to be pasted. */
const LINES_MIN = 7;

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
  // Until somebody edits it, the event follows the meter.
  const [edited, setText] = useState<string | null>(null);
  const text = edited ?? example;
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
            rows={Math.max(LINES_MIN, text.split('\n').length)}
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
      <Badge tone={isRight ? 'positive' : 'warning'}>{isRight ? 'Matches' : 'Differs'}</Badge>{' '}
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
