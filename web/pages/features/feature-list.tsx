import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { ChoiceFilter, ClearFilters, FilterBar, SearchFilter } from '../../ui/filter-bar.tsx';
import { useListState } from '../../ui/list-state.ts';
import { Page } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Day } from '../../ui/time.tsx';
import { FEATURE_TYPES } from '../../../schemas/words.ts';

type Feature = ApiRecord<'Feature'>;

const FILTERS = { q: '', type: '' };

const COLUMNS: readonly Column<Feature>[] = [
  { header: 'Feature', sort: 'name', cell: ({ name }) => <bdi>{name}</bdi> },
  { header: 'Type', sort: 'type', cell: ({ type }) => formatWord(type) },
  {
    header: 'Meter',
    cell: ({ meter, meter_id }) => <bdi>{meter?.name ?? (meter_id || '–')}</bdi>,
  },
  { header: 'Lookup key', wideOnly: true, cell: ({ lookup_key }) => <code>{lookup_key}</code> },
  {
    header: 'Created',
    sort: 'created_at',
    wideOnly: true,
    cell: ({ created_at }) => <Day at={created_at} />,
  },
];

/** Every feature: what plans and addons grant to their subscribers. */
export function View() {
  const list = useListState(FILTERS);
  const { filters, isFiltered, setFilters } = list;
  const query = useQuery({
    queryKey: ['features', list.paging, filters],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/features/search', {
          body: {
            ...list.paging,
            expand: ['meters'],
            ...(filters.q === '' ? {} : { name_contains: filters.q }),
            ...(filters.type === '' ? {} : { type: filters.type as Feature['type'] }),
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
  const create = (
    <Allowed to="feature:write">
      <ButtonLink to="/features/new" tone="primary" icon={<Plus size={14} aria-hidden />}>
        New feature
      </ButtonLink>
    </Allowed>
  );
  return (
    <Page title="Features" description="Parts of your product that plans include." actions={create}>
      <FilterBar>
        <SearchFilter
          label="Search by name"
          value={filters.q}
          onChange={(q) => setFilters({ q })}
        />
        <ChoiceFilter
          label="Type"
          value={filters.type}
          choices={FEATURE_TYPES.map((word) => [word, formatWord(word)] as const)}
          onChange={(type) => setFilters({ type })}
        />
        {isFiltered ? <ClearFilters onPress={() => setFilters(FILTERS)} /> : null}
      </FilterBar>
      <DataTable
        label="Features"
        query={query}
        list={list}
        columns={COLUMNS}
        rowTo={({ id }) => `/features/${id}`}
        empty={
          isFiltered ? (
            <EmptyState title="No feature matches">Choose other filters, or clear them.</EmptyState>
          ) : (
            <EmptyState title="No features yet" action={create}>
              A feature is metered with an included quantity, on or off, or a text value. Plans
              include features as entitlements.
            </EmptyState>
          )
        }
      />
    </Page>
  );
}
