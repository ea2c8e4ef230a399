import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { PortalUsagePage } from '../../schemas/portal-page.ts';
import type { PortalRange } from '../../schemas/words.ts';
import { FeatureBars } from '../app/billing/feature-bars.tsx';
import { CHARGE_NOTE, MeterCharts, UsageTable } from '../app/billing/metered-usage.tsx';
import { presetRange, rangeOf, type Range } from '../app/range.ts';
import type { AskedWindows } from '../app/window-times.ts';
import { answerOf, type ApiRecord } from '../client/api.ts';
import { portalApi } from '../client/portal-api.ts';
import { Figure, Figures } from '../ui/figure.tsx';
import { ChoiceFilter, DayFilter, FilterBar, FilterPair } from '../ui/filter-bar.tsx';
import { Money, Quantity } from '../ui/money.tsx';
import { Page, Section, Stack } from '../ui/page.tsx';
import { EmptyState, Loaded } from '../ui/query-state.tsx';
import { Period } from '../ui/time.tsx';
import { useUrlState } from '../ui/url-state.ts';
import { othersOf, ofIncluded } from './included-usage.ts';
import { usePageLabel, usePortal, useZone } from './portal.ts';
import { entitlementsQuery } from './queries.ts';

type Usage = ApiRecord<'UsageAnalytics'>;

const DAY_MS = 86_400_000;
const DAYS_MAX = 366;
const OWN = 'own';
const STATE = { days: '', from: '', to: '' };
const RANGE_NAMES: Readonly<Record<PortalRange, string>> = {
  today: 'Today',
  yesterday: 'Yesterday',
  last_7_days: 'Last 7 days',
  last_30_days: 'Last 30 days',
  last_90_days: 'Last 90 days',
  current_month: 'This month',
  last_month: 'Last month',
};

/** What was used, and how much of what the plans include is used; the company chooses which parts are shown. */
export function View() {
  const { usage_page } = usePortal();
  const { parts } = usage_page;
  const isIncludedFirst = parts[0] === 'current_usage';
  const hasIncluded = parts.includes('current_usage');
  const hasDays = parts.some((part) => part !== 'current_usage');
  const entitled = useQuery({
    ...entitlementsQuery(),
    enabled: hasIncluded || usage_page.only_included,
  });
  const days = useDays(usage_page, hasDays);
  const awaitsDays = days.query.isLoading || (usage_page.only_included && entitled.isLoading);
  const included = hasIncluded ? <Included isHidden={!isIncludedFirst && awaitsDays} /> : null;
  return (
    <Page
      title={usePageLabel('usage')}
      description="Usage is counted as it arrives; the newest may be missing for some seconds."
    >
      <Stack>
        {isIncludedFirst ? included : null}
        {hasDays ? (
          <OfDays shown={usage_page} days={days} isHidden={isIncludedFirst && entitled.isLoading} />
        ) : null}
        {isIncludedFirst ? null : included}
      </Stack>
    </Page>
  );
}

function Included({ isHidden }: { readonly isHidden: boolean }) {
  const zone = useZone();
  const query = useQuery(entitlementsQuery());
  return (
    <Section title="Included usage" isHidden={isHidden}>
      <Loaded query={query} what="what your plans include">
        {({ features }) =>
          features.length === 0 ? (
            <EmptyState title="No included usage">
              Usage that your plans include is shown here with how much is used.
            </EmptyState>
          ) : (
            <FeatureBars features={features} zone={zone} />
          )
        }
      </Loaded>
    </Section>
  );
}

/** The days of the address, and what was used in them. */
function useDays(shown: PortalUsagePage, isShown: boolean) {
  const zone = useZone();
  const [state, setState] = useUrlState(STATE);
  // Fixed while the page is open: a range that moves with every render would never be loaded.
  const { now } = usePortal().customer;
  const chosen = choiceOf(state.days, shown);
  const range = chosen === OWN ? ownRange(state, zone, now) : presetRange(chosen, zone, now);
  const isOneDay = chosen === 'today' || chosen === 'yesterday';
  const asked: AskedWindows | null = range && {
    ...range,
    window_size: isOneDay ? 'HOUR' : 'DAY',
    timezone: zone,
  };
  const query = useQuery({
    queryKey: ['usage', asked],
    queryFn: async ({ signal }) => ({
      asked: asked!,
      usage: await answerOf(
        portalApi.POST('/customer/portal/analytics/revenue', { body: asked!, signal }),
      ),
    }),
    enabled: isShown && range !== null,
    placeholderData: keepPreviousData,
  });
  return { state, setState, chosen, range, isOneDay, query, now };
}

function OfDays({
  shown,
  days: { state, setState, chosen, range, isOneDay, query, now },
  isHidden,
}: {
  readonly shown: PortalUsagePage;
  readonly days: ReturnType<typeof useDays>;
  readonly isHidden: boolean;
}) {
  const zone = useZone();
  return (
    <Section title={isOneDay ? 'By hour' : 'By day'} isHidden={isHidden}>
      <FilterBar>
        <ChoiceFilter
          label="Days"
          value={chosen}
          unset={null}
          choices={[
            ...shown.ranges.map((name) => [name, RANGE_NAMES[name]] as const),
            ...(shown.may_choose_days ? [[OWN, 'From … to'] as const] : []),
          ]}
          onChange={(days) => setState({ days: days === shown.first_range ? '' : days })}
        />
        {chosen === OWN ? (
          <FilterPair zone={zone}>
            <DayFilter label="From" value={state.from} onChange={(from) => setState({ from })} />
            <DayFilter label="To" value={state.to} onChange={(to) => setState({ to })} />
          </FilterPair>
        ) : null}
      </FilterBar>
      {range === null ? (
        <EmptyState title="Choose two days">
          The first day must not be after the last one, and at most a year before it.
        </EmptyState>
      ) : (
        <Loaded query={query} what="your usage">
          {({ usage, asked }) => <Shown usage={usage} asked={asked} now={now} shown={shown} />}
        </Loaded>
      )}
    </Section>
  );
}

/** The parts about the days, in the order that the company has chosen. */
function Shown({
  usage: all,
  asked,
  now,
  shown,
}: {
  readonly usage: Usage;
  readonly asked: AskedWindows;
  readonly now: string;
  readonly shown: PortalUsagePage;
}) {
  const entitled = useQuery({ ...entitlementsQuery(), enabled: shown.only_included });
  if (shown.only_included && entitled.isPending) return null;
  const usage = shown.only_included ? ofIncluded(all, entitled.data?.features ?? []) : all;
  const others = othersOf(all, usage);
  if (usage.items.length === 0)
    return (
      <EmptyState title="No usage in these days">
        What you use is counted here, by day. Choose more days to see older usage.
      </EmptyState>
    );
  return (
    <Stack>
      <p>
        <Period start={asked.start_time} end={asked.end_time} zone={asked.timezone} />
      </p>
      {shown.parts.map((part) =>
        part === 'metric_cards' ? (
          <Cards key={part} usage={usage} shown={shown} />
        ) : part === 'usage_graph' ? (
          <MeterCharts key={part} usage={usage} asked={asked} now={now} />
        ) : part === 'usage_breakdown' ? (
          <Stack key={part}>
            <UsageTable usage={usage} hasCharge={shown.shows_spend} />
            {(shown.shows_spend ? others : []).map(({ names, charge, currency }) => (
              <p key={currency}>
                Charge for other usage of your plans (<bdi>{names.join(', ')}</bdi>):{' '}
                <Money amount={charge} currency={currency} />.
              </p>
            ))}
          </Stack>
        ) : null,
      )}
    </Stack>
  );
}

function Cards({
  usage: { items, totals },
  shown: { shows_spend, shows_quantities },
}: {
  readonly usage: Usage;
  readonly shown: PortalUsagePage;
}) {
  if (!shows_spend && !shows_quantities) return null;
  return (
    <Figures>
      {(shows_spend ? totals : []).map(({ total_cost, currency }) => (
        <Figure
          key={currency}
          label="Charge"
          value={<Money amount={total_cost} currency={currency} />}
          note={CHARGE_NOTE}
        />
      ))}
      {shows_quantities
        ? items.map((item, index) => (
            <Figure key={index} label={item.name} value={<Quantity value={item.total_usage} />} />
          ))
        : null}
    </Figures>
  );
}

/** The range of the address, if the company offers it. */
function choiceOf(days: string, shown: PortalUsagePage): PortalRange | typeof OWN {
  if (days === OWN && shown.may_choose_days) return OWN;
  return shown.ranges.find((name) => name === days) ?? shown.first_range;
}

/** Null while two days are not chosen yet. */
function ownRange({ from, to }: typeof STATE, zone: string, now: string): Range | null {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  if (!(first <= last) || last - first >= DAYS_MAX * DAY_MS) return null;
  return rangeOf(from, to, zone, now);
}
