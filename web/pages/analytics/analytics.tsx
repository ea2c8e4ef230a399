import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useTimeOfExternalId } from '../../app/customer-time.ts';
import { Allowed } from '../../app/person.tsx';
import { firstDayOf, lastDayOf, rangeBefore, rangeOf } from '../../app/range.ts';
import { SavedViews } from '../../app/saved-views.tsx';
import type { AskedWindows } from '../../app/window-times.ts';
import { answerOf, api } from '../../client/api.ts';
import { saveFile } from '../../client/download.ts';
import { Button } from '../../ui/button.tsx';
import { TimeChart } from '../../ui/chart.tsx';
import { PlainTable, type Column } from '../../ui/data-table.tsx';
import { Figure, Figures } from '../../ui/figure.tsx';
import {
  ChoiceFilter,
  ClearFilters,
  DayFilter,
  FilterBar,
  FilterPair,
  SearchFilter,
} from '../../ui/filter-bar.tsx';
import { Money, Quantity } from '../../ui/money.tsx';
import { Card, Page, Section, Stack } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { formatDecimal, formatWord } from '../../ui/text.ts';
import { Period } from '../../ui/time.tsx';
import { useUrlState } from '../../ui/url-state.ts';
import { csvOf } from './csv.ts';
import {
  changeOf,
  chartsOf,
  chartTitleOf,
  chartOf,
  keyOf,
  sorted,
  titleOf,
  valueOf,
  type Item,
  type Measure,
  type Total,
} from './figures.ts';
import { Margin } from './margin.tsx';

const DEFAULTS = {
  customer: '',
  from: '',
  to: '',
  zone: 'UTC',
  window: 'DAY',
  group: '',
  property: '',
  measure: 'usage',
  compare: '',
};
type State = typeof DEFAULTS;

/** What is shown over time. The `cost` of the API is what customers are charged; a cost here is one of the company. */
const MEASURES: Readonly<Record<Measure, string>> = {
  usage: 'Usage',
  cost: 'Charge',
  events: 'Events',
};

const WINDOWS = ['15MIN', 'HOUR', 'DAY', 'WEEK', 'MONTH'] as const;
/** The browser's list leaves UTC out. */
const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')];

/** Usage and charges by any property. The numbers are those that an invoice of the same range has. */
export function View() {
  const [state, setState] = useUrlState<keyof State>(DEFAULTS);
  // Fixed while the page is open: a range that moves with every render would never be loaded.
  const [opened] = useState(() => new Date().toISOString());
  const customerNow = useTimeOfExternalId(state.customer);
  const now = customerNow ?? opened;
  const zone = ZONES.includes(state.zone) ? state.zone : 'UTC';
  const range = rangeOf(state.from, state.to, zone, now);
  const measure =
    (['usage', 'cost', 'events'] as const).find((one) => one === state.measure) ?? 'usage';
  const window = WINDOWS.find((size) => size === state.window) ?? 'DAY';
  const windows = { window_size: window, timezone: zone };
  const isOrdered = range.start_time < range.end_time;
  const isKnown = isOrdered && customerNow !== undefined;
  const present = useAnalytics(state, { ...range, ...windows }, isKnown);
  const before = useAnalytics(
    state,
    { ...rangeBefore(range, zone), ...windows },
    isKnown && state.compare !== '',
  );
  const isFiltered = Object.entries(DEFAULTS).some(
    ([key, value]) => state[key as keyof State] !== value,
  );
  return (
    <Page
      title="Analytics"
      description={
        !isOrdered ? undefined : (
          <>
            Usage and charges, <Period start={range.start_time} end={range.end_time} zone={zone} />{' '}
            ({zone})
          </>
        )
      }
      actions={
        <>
          <SavedViews page="analytics" state={state} defaults={DEFAULTS} onChoose={setState} />
          <Button
            icon={<Download size={14} aria-hidden />}
            isDisabled={!isOrdered || !present.data?.items.length}
            onPress={() =>
              saveFile(
                new Blob([csvOf(present.data?.items ?? [])], { type: 'text/csv' }),
                'analytics.csv',
              )
            }
          >
            CSV
          </Button>
        </>
      }
    >
      <FilterBar>
        <SearchFilter
          label="Customer (external id)"
          value={state.customer}
          onChange={(customer) => setState({ customer })}
        />
        <FilterPair>
          <DayFilter
            label="From"
            value={state.from || firstDayOf(range, zone)}
            onChange={(from) => setState({ from })}
          />
          <DayFilter
            label="Until"
            value={state.to || lastDayOf(range, zone)}
            onChange={(to) => setState({ to })}
          />
        </FilterPair>
        <ChoiceFilter
          label="Time zone"
          unset={null}
          value={zone}
          choices={ZONES.map((name) => [name, name])}
          onChange={(chosen) => setState({ zone: chosen })}
        />
        <ChoiceFilter
          label="Interval"
          unset={null}
          value={window}
          choices={WINDOWS.map((size) => [size, formatWord(size)])}
          onChange={(chosen) => setState({ window: chosen })}
        />
        <ChoiceFilter
          label="Group by"
          unset="None"
          value={state.group}
          choices={[
            ['source', 'Source'],
            ['property', 'Property'],
          ]}
          onChange={(group) => setState({ group })}
        />
        {state.group === 'property' ? (
          <SearchFilter
            label="Property, for example model"
            value={state.property}
            onChange={(property) => setState({ property })}
          />
        ) : null}
        <ChoiceFilter
          label="Chart"
          unset={null}
          value={measure}
          choices={[
            ['usage', MEASURES.usage],
            ['cost', MEASURES.cost],
            ['events', MEASURES.events],
          ]}
          onChange={(chosen) => setState({ measure: chosen })}
        />
        <ChoiceFilter
          label="Compare with"
          unset="None"
          value={state.compare}
          choices={[['before', 'Previous period']]}
          onChange={(compare) => setState({ compare })}
        />
        {isFiltered ? <ClearFilters onPress={() => setState(DEFAULTS)} /> : null}
      </FilterBar>
      {!isOrdered ? (
        <EmptyState title="The first day is after the last one">Choose other days.</EmptyState>
      ) : (
        <Loaded query={present} what="usage">
          {({ items, totals, currency, asked }) =>
            items.length === 0 ? (
              <EmptyState title="No usage in this range">
                {state.customer === ''
                  ? 'Choose another range, or send events to this environment.'
                  : 'Choose another range, or check that the customer has a subscription with usage prices.'}
              </EmptyState>
            ) : (
              <>
                {currency === '' ? (
                  <p>The charge depends on the customer’s prices. Choose a customer to see it.</p>
                ) : (
                  totals.map((total) => (
                    <CostFigures
                      key={total.currency}
                      total={total}
                      before={state.compare === '' ? undefined : before.data?.totals}
                    />
                  ))
                )}
                <Section
                  title={`${MEASURES[measure]} by ${formatWord(asked.window_size).toLowerCase()}`}
                >
                  <Pictures items={items} measure={measure} asked={asked} now={now} />
                </Section>
                <Section title="Totals">
                  <Totals
                    items={items}
                    before={state.compare === '' ? undefined : before.data?.items}
                    measure={measure}
                  />
                </Section>
              </>
            )
          }
        </Loaded>
      )}
      {isOrdered ? (
        <Allowed to="costsheet:read">
          <Margin customer={state.customer} range={range} isHidden={present.isPending} />
        </Allowed>
      ) : null}
    </Page>
  );
}

/**
 * The answer and its question: while another range is loading, the answer of the one before is shown. Without a
 * customer: all usage of the environment, which has no prices.
 */
function useAnalytics(
  state: Readonly<Record<keyof State, string>>,
  asked: AskedWindows,
  isEnabled: boolean,
) {
  const { customer, group, property } = state;
  const by =
    group === 'source'
      ? ['source']
      : group === 'property' && property !== ''
        ? [`properties.${property}`]
        : [];
  const body = {
    ...asked,
    ...(customer === '' ? {} : { external_customer_id: customer }),
    ...(by.length === 0 ? {} : { group_by: by }),
  };
  return useQuery({
    queryKey: ['analytics', body],
    queryFn: async ({ signal }) => ({
      ...(await answerOf(api.POST('/events/analytics', { body, signal }))),
      asked,
    }),
    placeholderData: keepPreviousData,
    enabled: isEnabled,
  });
}

/** The totals of one currency. `before`: those of the period before; undefined without a comparison. */
function CostFigures({
  total: { subtotal, total_discount, total_cost, currency },
  before,
}: {
  readonly total: Total;
  readonly before: readonly Total[] | undefined;
}) {
  const earlier = before?.find((total) => total.currency === currency)?.total_cost ?? '0';
  return (
    <Figures>
      <Figure label="Subtotal" value={<Money amount={subtotal} currency={currency} />} />
      <Figure label="Discounts" value={<Money amount={total_discount} currency={currency} />} />
      <Figure
        label="Charge"
        value={<Money amount={total_cost} currency={currency} />}
        note={before === undefined ? undefined : changeText(total_cost, earlier)}
      />
    </Figures>
  );
}

/** Usage in different units and costs in different currencies have charts of their own: they have no common axis. */
function Pictures({
  items,
  measure,
  asked,
  now,
}: {
  readonly items: readonly Item[];
  readonly measure: Measure;
  readonly asked: AskedWindows;
  readonly now: string;
}) {
  const groups = useMemo(() => chartsOf(items, measure), [items, measure]);
  return (
    <Stack>
      {groups.map((group) => (
        <Picture
          key={keyOf(group[0]!)}
          items={group}
          title={groups.length === 1 ? '' : chartTitleOf(group, measure)}
          measure={measure}
          currency={measure === 'cost' ? group[0]!.currency : ''}
          asked={asked}
          now={now}
        />
      ))}
    </Stack>
  );
}

function Picture({
  items,
  title,
  measure,
  currency,
  asked,
  now,
}: {
  readonly items: readonly Item[];
  /** What distinguishes the chart from those beside it. */
  readonly title: string;
  readonly measure: Measure;
  readonly currency: string;
  readonly asked: AskedWindows;
  readonly now: string;
}) {
  const { times, series } = useMemo(
    () => chartOf(items, measure, asked, now),
    [items, measure, asked, now],
  );
  return (
    <Card>
      {title === '' ? null : (
        <h3>
          <bdi>{title}</bdi>
        </h3>
      )}
      <TimeChart
        label={title === '' ? MEASURES[measure] : `${MEASURES[measure]}: ${title}`}
        times={times}
        series={series}
        zone={asked.timezone}
        kind={series.length === 1 ? 'bars' : 'line'}
        currency={currency}
      />
    </Card>
  );
}

function Totals({
  items,
  before,
  measure,
}: {
  readonly items: readonly Item[];
  readonly before: readonly Item[] | undefined;
  readonly measure: Measure;
}) {
  const earlier = new Map((before ?? []).map((item) => [keyOf(item), item]));
  const rows = sorted(items, measure).map((item) => ({ ...item, id: keyOf(item) }));
  const columns: Column<Item & { readonly id: string }>[] = [
    { header: 'Meter', cell: titleOf },
    {
      header: 'Usage',
      align: 'end',
      cell: ({ total_usage, unit, unit_plural }) => (
        <Quantity value={total_usage} unit={total_usage === '1' ? unit : unit_plural || unit} />
      ),
    },
    {
      header: 'Events',
      align: 'end',
      wideOnly: true,
      cell: ({ event_count }) => formatDecimal(String(event_count)),
    },
    {
      header: 'Charge',
      align: 'end',
      cell: ({ total_cost, currency }) =>
        currency === '' ? '–' : <Money amount={total_cost} currency={currency} />,
    },
    ...(before === undefined
      ? []
      : [
          {
            header: `${MEASURES[measure]} before`,
            align: 'end' as const,
            cell: ({ id }: { readonly id: string }) => {
              const found = earlier.get(id);
              return found === undefined ? '–' : formatDecimal(valueOf(found, measure));
            },
          },
          {
            header: 'Change',
            align: 'end' as const,
            cell: (item: Item & { readonly id: string }) => {
              const found = earlier.get(item.id);
              return changeText(valueOf(item, measure), found && valueOf(found, measure));
            },
          },
        ]),
  ];
  return <PlainTable label="Totals by usage" columns={columns} rows={rows} />;
}

function changeText(now: string, before: string | undefined): string {
  const change = changeOf(now, before);
  if (change === null) return '–';
  return `${change.startsWith('-') ? '' : '+'}${formatDecimal(change)}%`;
}
