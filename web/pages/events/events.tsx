import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Pause, Play } from 'lucide-react';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable, Narrow, type Column, type ListPage } from '../../ui/data-table.tsx';
import {
  ChoiceFilter,
  ClearFilters,
  DayFilter,
  FilterBar,
  FilterPair,
  SearchFilter,
} from '../../ui/filter-bar.tsx';
import { InParts } from '../../ui/in-parts.tsx';
import { PAGE_ROWS, useListState } from '../../ui/list-state.ts';
import { Page } from '../../ui/page.tsx';
import { Awaiting, EmptyState } from '../../ui/query-state.tsx';
import { Time } from '../../ui/time.tsx';
import { useUrlState } from '../../ui/url-state.ts';
import { FirstEvent } from '../../app/first-event.tsx';
import { Properties } from '../../app/properties.tsx';
import { ListFile, type FileColumn } from '../../app/list/list-file.tsx';
import type { PageOf } from '../../app/list/whole-list.ts';
import { useMay, useSignedIn } from '../../app/person.tsx';
import type { EVENT_OUTCOMES } from '../../../schemas/event.ts';
import { ClockTimes } from './clock-times.tsx';
import styles from './events.module.css';

type Event = ApiRecord<'Event'>;
type Outcome = (typeof EVENT_OUTCOMES)[number];

const OUTCOMES: Readonly<Record<Outcome, string>> = {
  metered: 'Metered',
  rejected: 'Rejected',
  duplicate: 'Duplicate',
};

/** How often the live tail asks for new events. */
const LIVE_MS = 1_000;

/** The live tail is on, unless the address says `off`. */
const TAIL = { live: '' };

const FILTERS = {
  event_id: '',
  event_name: '',
  external_customer_id: '',
  source: '',
  outcome: '',
  from: '',
  to: '',
};

const COLUMNS: readonly Column<Event>[] = [
  {
    header: 'Event',
    cell: ({ id, event_name }) => (
      <>
        <code className={styles.id}>{id}</code>
        <Narrow>
          <InParts text={event_name} />
        </Narrow>
      </>
    ),
  },
  { header: 'Name', wideOnly: true, cell: ({ event_name }) => <InParts text={event_name} /> },
  { header: 'Customer', cell: (event) => event.external_customer_id },
  {
    header: 'Properties',
    isRoomy: true,
    cell: ({ properties }) => (
      <div className={styles.properties}>
        <Properties of={properties} />
      </div>
    ),
    wideOnly: true,
  },
  { header: 'Time', cell: ({ timestamp }) => <Time at={timestamp} seconds /> },
];

/** A page of events, by its offset or by the key of the event before it. */
interface Place {
  readonly limit: number;
  readonly offset?: number;
  readonly iter_last_key?: string;
}

const FILE: readonly FileColumn<Event>[] = [
  ['event_id', ({ id }) => id],
  ['event_name', (row) => row.event_name],
  ['external_customer_id', (row) => row.external_customer_id],
  ['time', ({ timestamp }) => timestamp],
  ['source', ({ source }) => source],
  ['properties', ({ properties }) => JSON.stringify(properties ?? {})],
  ['ingested', (row) => row.ingested_at],
];

/** Pages for a file: each goes on after the last event of the one before it, whatever arrives meanwhile. */
function inOrder(
  searched: (place: Place, signal: AbortSignal) => Promise<ApiRecord<'EventList'>>,
): PageOf<ListPage<Event>> {
  let total = 0;
  let key: string | null = null;
  return async ({ limit, offset }, signal) => {
    if (offset > 0 && key === null) return { items: [], pagination: { total, limit, offset } };
    const place = offset === 0 || key === null ? {} : { iter_last_key: key };
    const answer = await searched({ limit, ...place }, signal);
    if (offset === 0) total = answer.total_count;
    key = answer.iter_last_key;
    return { items: answer.events, pagination: { total, limit, offset } };
  };
}

/** Without a first day the API answers seven days. */
const rangeInWords = ({ from, to }: { readonly from: string; readonly to: string }): string =>
  from !== '' ? '' : to === '' ? ' of the last seven days' : ' of the seven days until then';

/** Accepted events, newest first; the first page follows what arrives. */
export function View() {
  const list = useListState(FILTERS);
  const [{ live }, setState] = useUrlState(TAIL);
  const isLive = live !== 'off';
  const { limit, offset } = list.paging;
  const { from, to, outcome, ...texts } = list.filters;
  const filters = Object.fromEntries(
    Object.entries({
      ...texts,
      outcome: outcome as Outcome | '',
      start_time: from && `${from}T00:00:00.000Z`,
      end_time: to && `${to}T23:59:59.999Z`,
    }).filter(([, text]) => text !== ''),
  );
  const isFiltered = Object.keys(filters).length > 0;
  // An event has an outcome only when it is processed, and the search for it is a longer one.
  const follows = isLive && offset === 0 && outcome === '';
  const searched = async (place: Place, signal: AbortSignal) => {
    const { limit: page_size, ...rest } = place;
    return await answerOf(
      api.POST('/events/query', { body: { ...filters, page_size, ...rest }, signal }),
    );
  };
  const events = useQuery({
    queryKey: ['events', filters, limit, offset],
    queryFn: ({ signal }) => searched({ limit, offset }, signal),
    select: ({ events: items, total_count: total }) => ({
      items,
      pagination: { total, limit: PAGE_ROWS, offset },
    }),
    placeholderData: keepPreviousData,
    refetchInterval: follows ? LIVE_MS : false,
  });
  const { environment } = useSignedIn();
  const mayReadClocks = useMay('testclock:read');
  const clocks = useQuery({
    queryKey: ['test-clocks', 'times'],
    enabled: mayReadClocks && environment.type !== 'production',
    queryFn: ({ signal }) =>
      answerOf(api.POST('/test-clocks/search', { body: { limit: PAGE_ROWS }, signal })),
  });
  return (
    <Page
      title="Events"
      description={
        `Accepted events${rangeInWords(list.filters)}, newest first.` +
        (follows ? ' New ones appear as they arrive.' : '')
      }
      actions={
        <>
          <ListFile name="events" columns={FILE} page={inOrder(searched)} followsKey />
          <Button
            icon={isLive ? <Pause size={14} aria-hidden /> : <Play size={14} aria-hidden />}
            onPress={() => setState({ live: isLive ? 'off' : '' })}
          >
            {isLive ? 'Pause' : 'Follow'}
          </Button>
        </>
      }
    >
      <FilterBar>
        <SearchFilter
          label="Event id"
          value={list.filters.event_id}
          onChange={(event_id) => list.setFilters({ event_id })}
        />
        <SearchFilter
          label="Event name"
          value={list.filters.event_name}
          onChange={(event_name) => list.setFilters({ event_name })}
        />
        <SearchFilter
          label="Customer (external id)"
          value={list.filters.external_customer_id}
          onChange={(external_customer_id) => list.setFilters({ external_customer_id })}
        />
        <ChoiceFilter
          label="Outcome"
          value={outcome}
          choices={Object.entries(OUTCOMES)}
          onChange={(chosen) => list.setFilters({ outcome: chosen })}
        />
        <FilterPair zone="UTC">
          <DayFilter label="From" value={from} onChange={(day) => list.setFilters({ from: day })} />
          <DayFilter label="Until" value={to} onChange={(day) => list.setFilters({ to: day })} />
        </FilterPair>
        {isFiltered ? <ClearFilters onPress={() => list.setFilters(FILTERS)} /> : null}
      </FilterBar>
      <ClockTimes clocks={clocks} />
      {clocks.isLoading ? (
        <Awaiting what="events" />
      ) : (
        <DataTable
          label="Events"
          columns={COLUMNS}
          query={events}
          list={list}
          rowTo={({ id }) => `/events/${encodeURIComponent(id)}`}
          empty={
            isFiltered ? (
              <EmptyState title="No event matches">
                Ids, names and customers are compared exactly, including upper and lower case.
              </EmptyState>
            ) : (
              <EmptyState title="No event yet">
                <FirstEvent />
              </EmptyState>
            )
          }
        />
      )}
    </Page>
  );
}
