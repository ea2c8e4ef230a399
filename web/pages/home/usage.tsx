import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { FirstEvent } from '../../app/first-event.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { TimeChart } from '../../ui/chart.tsx';
import { Figure, Figures } from '../../ui/figure.tsx';
import { Quantity } from '../../ui/money.tsx';
import { Card, Section, Stack } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { daysAt, type Days } from './days.ts';
import { useAfterRevenue } from './revenue.tsx';

type Counts = ApiRecord<'EventMonitoring'>;

/** How often the counts of the day are read again. */
const DAY_REFRESH_MS = 15_000;
/** The rate is the mean of this time, and is read again as often as a person follows it. */
const RATE_MS = 60_000;
const RATE_REFRESH_MS = 5_000;
const HOURS = 24;
const HOUR_MS = 3_600_000;

/** Events of today against yesterday, and the rate at which they arrive now. */
export function Usage() {
  const days = daysAt(Date.now());
  const enabled = useAfterRevenue();
  const query = useQuery({
    queryKey: ['home-usage', days.date],
    enabled,
    queryFn: async ({ signal }) => {
      const counts = (start_time: string, end_time: string) =>
        answerOf(
          api.GET('/events/monitoring', {
            params: { query: { start_time, end_time, window_size: 'HOUR' } },
            signal,
          }),
        );
      const [today, yesterday] = await Promise.all([
        counts(days.start, days.end),
        counts(days.startOfYesterday, days.start),
      ]);
      return { today, yesterday };
    },
    refetchInterval: DAY_REFRESH_MS,
  });
  const rate = useRate(enabled, query.data !== undefined);
  return (
    <Section title="Usage">
      <Loaded query={query} what="usage" isTall>
        {({ today, yesterday }) =>
          today.total_count + yesterday.total_count === 0 && !today.consumption_lag ? (
            <EmptyState title="No events today or yesterday">
              <FirstEvent />
            </EmptyState>
          ) : (
            <Stack>
              <Figures>
                <Figure
                  label="Events today"
                  value={<Count of={today.total_count} />}
                  note={`${yesterday.total_count.toLocaleString('en-US')} yesterday (UTC)`}
                  to="/events"
                  search={{ from: days.date, to: days.date }}
                />
                <Figure
                  label="Events per second"
                  value={rate === null ? '–' : rate.toFixed(rate < 10 ? 1 : 0)}
                  note="average of the last minute"
                  to="/events"
                />
                <Figure
                  label="Metered events"
                  value={<Count of={today.metered_count} />}
                  note="today"
                  to="/events"
                  search={{ from: days.date, to: days.date, outcome: 'metered' }}
                />
                <Figure
                  label="Rejected events"
                  value={<Count of={today.rejected_count} />}
                  note="today"
                  to="/events"
                  search={{ from: days.date, to: days.date, outcome: 'rejected' }}
                />
                <Figure
                  label="Duplicate events"
                  value={<Count of={today.duplicate_count} />}
                  note="today; counted once"
                  to="/events"
                  search={{ from: days.date, to: days.date, outcome: 'duplicate' }}
                />
              </Figures>
              <Card>
                <Stack>
                  <h3>Events by hour</h3>
                  <ByHour days={days} today={today} yesterday={yesterday} />
                </Stack>
              </Card>
            </Stack>
          )
        }
      </Loaded>
    </Section>
  );
}

const Count = ({ of }: { readonly of: number }) => <Quantity value={String(of)} />;

/** Events per second, or null until they are counted. Counted again while they are shown. */
function useRate(enabled: boolean, isShown: boolean): number | null {
  const { data } = useQuery({
    queryKey: ['home-rate'],
    enabled,
    queryFn: ({ signal }) => {
      const end = Date.now();
      return answerOf(
        api.GET('/events/monitoring', {
          params: {
            query: {
              start_time: new Date(end - RATE_MS).toISOString(),
              end_time: new Date(end).toISOString(),
            },
          },
          signal,
        }),
      );
    },
    refetchInterval: isShown ? RATE_REFRESH_MS : false,
  });
  return data === undefined ? null : data.total_count / (RATE_MS / 1000);
}

function ByHour({
  days,
  today,
  yesterday,
}: {
  readonly days: Days;
  readonly today: Counts;
  readonly yesterday: Counts;
}) {
  const times = useMemo(
    () =>
      Array.from({ length: HOURS }, (_, hour) =>
        new Date(Date.parse(days.start) + hour * HOUR_MS).toISOString(),
      ),
    [days.start],
  );
  const series = useMemo(() => {
    // The running hour has a part of its events only, which would look like a fall.
    const ended = Math.floor((Date.now() - Date.parse(days.start)) / HOUR_MS);
    return [
      {
        name: `Today until ${String(ended).padStart(2, '0')}:00`,
        values: byHour(today, days.start, ended),
      },
      { name: 'Yesterday', values: byHour(yesterday, days.startOfYesterday, HOURS) },
    ];
  }, [days.start, days.startOfYesterday, today, yesterday]);
  return <TimeChart label="Events by hour, today and yesterday" times={times} series={series} />;
}

/** Events of each of the first `ended` hours of a day; null for the others. */
function byHour({ points }: Counts, start: string, ended: number): (string | null)[] {
  const counts = new Map(
    (points ?? []).map(({ timestamp, event_count }) => [
      (Date.parse(timestamp) - Date.parse(start)) / HOUR_MS,
      event_count,
    ]),
  );
  return Array.from({ length: HOURS }, (_, hour) =>
    hour >= ended ? null : String(counts.get(hour) ?? 0),
  );
}
