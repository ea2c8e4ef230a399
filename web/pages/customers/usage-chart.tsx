import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { PortalRange } from '../../../schemas/words.ts';
import { MeteredUsage } from '../../app/billing/metered-usage.tsx';
import { useCustomerTime } from '../../app/customer-time.ts';
import { presetRange } from '../../app/range.ts';
import type { AskedWindows } from '../../app/window-times.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
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
export function UsageChart({ customer }: { readonly customer: ApiRecord<'Customer'> }) {
  const { external_id, timezone } = customer;
  const [{ days }, setState] = useUrlState(STATE);
  const now = useCustomerTime(customer);
  const query = useQuery({
    queryKey: ['customer-chart', external_id, days, timezone, now],
    enabled: now !== undefined,
    queryFn: async ({ signal }) => {
      const asked: AskedWindows = {
        ...presetRange(PRESETS.get(days) ?? 'last_30_days', timezone, now!),
        window_size: 'DAY',
        timezone,
      };
      const body = { external_customer_id: external_id, ...asked };
      const usage = await answerOf(api.POST('/events/analytics', { body, signal }));
      return { asked, usage, now: now! };
    },
    placeholderData: keepPreviousData,
  });
  return (
    <Section title="Usage by day">
      <FilterBar>
        <ChoiceFilter
          label="Days"
          value={days}
          unset={null}
          choices={[...PRESETS.keys()].map((count) => [count, count])}
          onChange={(chosen) => setState({ days: chosen })}
        />
      </FilterBar>
      <Loaded query={query} what="usage">
        {({ usage, ...shown }) =>
          usage.items.length === 0 ? (
            <EmptyState title="No usage in these days">
              Events that name this customer are counted here.
            </EmptyState>
          ) : (
            <MeteredUsage usage={usage} {...shown} />
          )
        }
      </Loaded>
    </Section>
  );
}
