import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { FeatureBars } from '../app/billing/feature-bars.tsx';
import { MeteredUsage } from '../app/billing/metered-usage.tsx';
import { answerOf } from '../client/api.ts';
import { portalApi } from '../client/portal-api.ts';
import { ChoiceFilter, DayFilter, FilterBar } from '../ui/filter-bar.tsx';
import { Page, Section, Stack } from '../ui/page.tsx';
import { EmptyState, Loaded } from '../ui/query-state.tsx';
import { useUrlState } from '../ui/url-state.ts';
import { useZone } from './portal.ts';
import { entitlementsQuery } from './queries.ts';

const DAY_MS = 86_400_000;
const STATE = { days: '30', from: '', to: '' };

/** What was used by day, and how much of what the plans include is used. */
export function View() {
  return (
    <Page
      title="Usage"
      description="Usage is counted as it arrives; the newest may be missing for some seconds."
    >
      <Stack>
        <Included />
        <ByDay />
      </Stack>
    </Page>
  );
}

function Included() {
  const zone = useZone();
  const query = useQuery(entitlementsQuery());
  return (
    <Section title="Against what your plans include">
      <Loaded query={query} what="what your plans include">
        {({ features }) =>
          features.length === 0 ? (
            <EmptyState title="Your plans set no limits">
              A limit of a plan is shown here with how much of it is used.
            </EmptyState>
          ) : (
            <FeatureBars features={features} zone={zone} />
          )
        }
      </Loaded>
    </Section>
  );
}

function ByDay() {
  const zone = useZone();
  const [state, setState] = useUrlState(STATE);
  const range = rangeOf(state);
  const query = useQuery({
    queryKey: ['usage', range, zone],
    queryFn: ({ signal }) =>
      answerOf(
        portalApi.POST('/customer/portal/analytics/revenue', {
          body: { ...range!, window_size: 'DAY' },
          signal,
        }),
      ),
    enabled: range !== null,
    placeholderData: keepPreviousData,
  });
  return (
    <Section title="By day">
      <FilterBar>
        <ChoiceFilter
          label="Days"
          value={state.days}
          unset={null}
          choices={[
            ['7', 'Last 7 days'],
            ['30', 'Last 30 days'],
            ['90', 'Last 90 days'],
            ['own', 'From … to'],
          ]}
          onChange={(days) => setState({ days })}
        />
        {state.days === 'own' ? (
          <>
            <DayFilter label="From" value={state.from} onChange={(from) => setState({ from })} />
            <DayFilter label="To" value={state.to} onChange={(to) => setState({ to })} />
          </>
        ) : null}
      </FilterBar>
      {range === null ? (
        <EmptyState title="Choose two days">
          The first day must not be after the last one, and at most a year before it.
        </EmptyState>
      ) : (
        <Loaded query={query} what="your usage">
          {(usage) =>
            usage.items.length === 0 ? (
              <EmptyState title="No usage in these days">
                What you use is counted here, by day. Choose more days to see older usage.
              </EmptyState>
            ) : (
              <MeteredUsage usage={usage} zone={zone} />
            )
          }
        </Loaded>
      )}
    </Section>
  );
}

/** Whole UTC days: the same question is asked once. Null while two days are not chosen yet. */
function rangeOf({
  days,
  from,
  to,
}: typeof STATE): { start_time: string; end_time: string } | null {
  const tomorrow = Math.ceil(Date.now() / DAY_MS) * DAY_MS;
  const [start, end] =
    days === 'own'
      ? [Date.parse(from), Date.parse(to) + DAY_MS]
      : [tomorrow - (Number(days) || 30) * DAY_MS, tomorrow];
  if (!(start < end) || end - start > 366 * DAY_MS) return null;
  return { start_time: new Date(start).toISOString(), end_time: new Date(end).toISOString() };
}
