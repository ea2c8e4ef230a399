import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useCustomerTime } from '../../app/customer-time.ts';
import { useMay } from '../../app/person.tsx';
import { presetRange } from '../../app/range.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { TimeChart } from '../../ui/chart.tsx';
import { Card, Section } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';

const DAY_MS = 86_400_000;

/** Accepted events of the customer by UTC day. Copies count, and so do events that no meter counts. */
export function EventVolume({ customer }: { readonly customer: ApiRecord<'Customer'> }) {
  const mayRead = useMay('event:read');
  const now = useCustomerTime(customer);
  const { external_id: external_customer_id } = customer;
  const query = useQuery({
    queryKey: ['customer-event-volume', external_customer_id, now],
    enabled: mayRead && now !== undefined,
    queryFn: ({ signal }) => {
      const days = presetRange('last_30_days', 'UTC', now!);
      const asked = { ...days, window_size: 'DAY' as const, external_customer_id };
      return answerOf(api.GET('/events/monitoring', { params: { query: asked }, signal }));
    },
  });
  if (!mayRead) return null;
  return (
    <Section title="Events of the last 30 days">
      <Loaded query={query} what="events" isTall>
        {(counts) =>
          counts.total_count === 0 ? (
            <EmptyState title="No events in these days">
              Events that name this customer are counted here.
            </EmptyState>
          ) : (
            <Card>
              <ByDay of={counts} />
            </Card>
          )
        }
      </Loaded>
    </Section>
  );
}

function ByDay({
  of: { start_time, end_time, points },
}: {
  readonly of: ApiRecord<'EventMonitoring'>;
}) {
  const times = useMemo(() => daysOf(start_time, end_time), [start_time, end_time]);
  const series = useMemo(() => {
    const counts = new Map(
      (points ?? []).map(({ timestamp, event_count }) => [Date.parse(timestamp), event_count]),
    );
    return [
      { name: 'Events', values: times.map((day) => String(counts.get(Date.parse(day)) ?? 0)) },
    ];
  }, [points, times]);
  return <TimeChart label="Events by day (UTC)" kind="bars" times={times} series={series} />;
}

/** Each day in UTC that has a part between the two times. */
function daysOf(start: string, end: string): readonly string[] {
  const first = Math.floor(Date.parse(start) / DAY_MS);
  const count = Math.ceil(Date.parse(end) / DAY_MS) - first;
  return Array.from({ length: count }, (_, day) => new Date((first + day) * DAY_MS).toISOString());
}
