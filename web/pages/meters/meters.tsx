import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { FilterBar, SearchFilter } from '../../ui/filter-bar.tsx';
import { useListState } from '../../ui/list-state.ts';
import { Page } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { Day } from '../../ui/time.tsx';
import { inWords } from './in-words.ts';

type Meter = ApiRecord<'Meter'>;

const COLUMNS: readonly Column<Meter>[] = [
  { header: 'Name', cell: ({ name }) => name, sort: 'name' },
  { header: 'Aggregation', cell: inWords },
  {
    header: 'Event',
    cell: ({ event_name }) => <code>{event_name}</code>,
    sort: 'event_name',
    wideOnly: true,
  },
  { header: 'Status', cell: ({ status }) => <Status word={status} /> },
  {
    header: 'Created',
    cell: ({ created_at }) => <Day at={created_at} />,
    sort: 'created_at',
    wideOnly: true,
  },
];

/** Meters: what turns events into quantities. */
export function View() {
  const list = useListState({ event_name: '' });
  const { event_name } = list.filters;
  const meters = useQuery({
    queryKey: ['meters', list.paging, event_name],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/meters/search', {
          body: { ...list.paging, ...(event_name === '' ? {} : { event_name }) },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
  const create = (
    <Allowed to="meter:write">
      <ButtonLink to="/meters/new" tone="primary" icon={<Plus size={14} aria-hidden />}>
        New meter
      </ButtonLink>
    </Allowed>
  );
  return (
    <Page title="Meters" description="What turns events into quantities." actions={create}>
      <FilterBar>
        <SearchFilter
          label="Event name"
          value={event_name}
          onChange={(text) => list.setFilters({ event_name: text })}
        />
      </FilterBar>
      <DataTable
        label="Meters"
        columns={COLUMNS}
        query={meters}
        list={list}
        rowTo={({ id }) => `/meters/${id}`}
        empty={
          <EmptyState title="No meter yet" action={create}>
            A meter picks events by their name and properties, and turns each into a quantity: a
            count, a sum, the highest value. Try it on an event before you save it.
          </EmptyState>
        }
      />
    </Page>
  );
}
