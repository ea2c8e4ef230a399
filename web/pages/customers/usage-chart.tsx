import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { TimeChart } from '../../ui/chart.tsx';
import { ChoiceFilter, FilterBar } from '../../ui/filter-bar.tsx';
import { Money, Quantity } from '../../ui/money.tsx';
import { Card, Section, Stack } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { PlainTable } from '../../ui/data-table.tsx';
import { useUrlState } from '../../ui/url-state.ts';

const DAY_MS = 86_400_000;
const STATE = { days: '30' };

/** Usage of each meter by day, and what it costs. */
export function UsageChart({
  externalId,
  zone,
}: {
  readonly externalId: string;
  readonly zone: string;
}) {
  const [{ days }, setState] = useUrlState(STATE);
  // Whole days: the same question is asked once, and its answer is kept.
  const end = Math.ceil(Date.now() / DAY_MS) * DAY_MS;
  const query = useQuery({
    queryKey: ['customer-chart', externalId, days, end, zone],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/events/analytics', {
          body: {
            external_customer_id: externalId,
            start_time: new Date(end - (Number(days) || 30) * DAY_MS).toISOString(),
            end_time: new Date(end).toISOString(),
            window_size: 'DAY',
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
  return (
    <Section title="Usage by day">
      <FilterBar>
        <ChoiceFilter
          label="Days"
          value={days}
          choices={[
            ['7', '7'],
            ['30', '30'],
            ['90', '90'],
          ]}
          onChange={(chosen) => setState({ days: chosen })}
        />
      </FilterBar>
      <Loaded query={query} what="usage">
        {({ items, currency }) =>
          items.length === 0 ? (
            <EmptyState title="No usage in these days">
              Events that name this customer are counted here.
            </EmptyState>
          ) : (
            <Stack>
              {items.map((item, index) => (
                <MeterChart key={index} item={item} zone={zone} />
              ))}
              <PlainTable
                label="Usage and cost"
                rows={items.map((item, index) => ({ ...item, id: String(index) }))}
                columns={[
                  { header: 'Meter', cell: ({ name }) => <bdi>{name}</bdi> },
                  {
                    header: 'Usage',
                    align: 'end',
                    cell: ({ total_usage, unit_plural }) => (
                      <Quantity value={total_usage} unit={unit_plural} />
                    ),
                  },
                  {
                    header: 'Events',
                    align: 'end',
                    cell: ({ event_count }) => event_count.toLocaleString('en-US'),
                  },
                  {
                    header: 'Cost',
                    align: 'end',
                    cell: (item) => (
                      <Money
                        amount={item.total_cost}
                        currency={item.currency || currency || 'usd'}
                      />
                    ),
                  },
                ]}
              />
            </Stack>
          )
        }
      </Loaded>
    </Section>
  );
}

function MeterChart({
  item,
  zone,
}: {
  readonly item: ApiRecord<'UsageAnalyticsItem'>;
  readonly zone: string;
}) {
  const times = useMemo(() => (item.points ?? []).map(({ timestamp }) => timestamp), [item]);
  const series = useMemo(
    () => [{ name: item.name, values: (item.points ?? []).map(({ usage }) => usage) }],
    [item],
  );
  return (
    <Card>
      <h3>
        <bdi>{item.name}</bdi>
      </h3>
      <TimeChart
        label={`${item.name} by day`}
        kind="bars"
        times={times}
        series={series}
        zone={zone}
      />
    </Card>
  );
}
