import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { PortalRange } from '../../../schemas/words.ts';
import { MeteredUsage } from '../../app/billing/metered-usage.tsx';
import { presetRange } from '../../app/range.ts';
import { answerOf, api } from '../../client/api.ts';
import { ChoiceFilter, FilterBar } from '../../ui/filter-bar.tsx';
import { Section } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { useUrlState } from '../../ui/url-state.ts';

const STATE = { days: '30' };
const PRESETS: ReadonlyMap<string, PortalRange> = new Map([
  ['7', 'last_7_days'],
  ['30', 'last_30_days'],
  ['90', 'last_90_days'],
]);

/** Usage of each meter by day, and what it costs. */
export function UsageChart({
  externalId,
  zone,
}: {
  readonly externalId: string;
  readonly zone: string;
}) {
  const [{ days }, setState] = useUrlState(STATE);
  // Fixed while the page is open: a range that moves with every render would never be loaded.
  const [now] = useState(() => new Date().toISOString());
  const asked = {
    ...presetRange(PRESETS.get(days) ?? 'last_30_days', zone, now),
    window_size: 'DAY' as const,
    timezone: zone,
  };
  const query = useQuery({
    queryKey: ['customer-chart', externalId, asked],
    queryFn: async ({ signal }) => ({
      asked,
      usage: await answerOf(
        api.POST('/events/analytics', {
          body: { external_customer_id: externalId, ...asked },
          signal,
        }),
      ),
    }),
    placeholderData: keepPreviousData,
  });
  return (
    <Section title="Usage by day">
      <FilterBar>
        <ChoiceFilter
          label="Days"
          value={days}
          choices={[...PRESETS.keys()].map((count) => [count, count])}
          onChange={(chosen) => setState({ days: chosen })}
        />
      </FilterBar>
      <Loaded query={query} what="usage">
        {({ usage, asked: shown }) =>
          usage.items.length === 0 ? (
            <EmptyState title="No usage in these days">
              Events that name this customer are counted here.
            </EmptyState>
          ) : (
            <MeteredUsage usage={usage} asked={shown} now={now} />
          )
        }
      </Loaded>
    </Section>
  );
}
