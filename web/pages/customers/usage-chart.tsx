import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { MeteredUsage } from '../../app/billing/metered-usage.tsx';
import { answerOf, api } from '../../client/api.ts';
import { ChoiceFilter, FilterBar } from '../../ui/filter-bar.tsx';
import { Section } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
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
        {(usage) =>
          usage.items.length === 0 ? (
            <EmptyState title="No usage in these days">
              Events that name this customer are counted here.
            </EmptyState>
          ) : (
            <MeteredUsage usage={usage} zone={zone} />
          )
        }
      </Loaded>
    </Section>
  );
}
