import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { ListFile, type FileColumn } from '../../app/list-file.tsx';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { ChoiceFilter, ClearFilters, FilterBar, SearchFilter } from '../../ui/filter-bar.tsx';
import { useListState, type ListState } from '../../ui/list-state.ts';
import { Page } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { Day } from '../../ui/time.tsx';

const FILTERS = { q: '', by: '' };

const COLUMNS: readonly Column<ApiRecord<'Customer'>>[] = [
  { header: 'Name', sort: 'name', cell: ({ name }) => <bdi>{name}</bdi> },
  { header: 'External id', sort: 'external_id', cell: (row) => <code>{row.external_id}</code> },
  { header: 'E-mail', wideOnly: true, cell: ({ email }) => email || '–' },
  { header: 'Country', wideOnly: true, cell: (row) => row.address_country || '–' },
  { header: 'Time zone', wideOnly: true, cell: ({ timezone }) => timezone },
  {
    header: 'Created',
    sort: 'created_at',
    wideOnly: true,
    cell: ({ created_at }) => <Day at={created_at} />,
  },
];

const FILE: readonly FileColumn<ApiRecord<'Customer'>>[] = [
  ['name', ({ name }) => name],
  ['external_id', (row) => row.external_id],
  ['email', ({ email }) => email],
  ['country', (row) => row.address_country],
  ['timezone', ({ timezone }) => timezone],
  ['created', (row) => row.created_at],
  ['id', ({ id }) => id],
];

const searched = (
  paging: ListState<never>['paging'],
  filters: Readonly<Record<keyof typeof FILTERS, string>>,
  signal: AbortSignal,
) =>
  answerOf(
    api.POST('/customers/search', {
      body: {
        ...paging,
        ...(filters.q === ''
          ? {}
          : {
              filters: [
                {
                  field: filters.by === '' ? 'name' : filters.by,
                  operator: 'contains' as const,
                  value: { string: filters.q },
                },
              ],
            }),
      },
      signal,
    }),
  );

/** Every customer, found by name, external id or e-mail. */
export function View() {
  const list = useListState(FILTERS);
  const { filters, setFilters } = list;
  const query = useQuery({
    queryKey: ['customers', list.paging, filters],
    queryFn: ({ signal }) => searched(list.paging, filters, signal),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title="Customers"
      actions={
        <>
          <ListFile
            name="customers"
            columns={FILE}
            page={(paging, signal) => searched({ ...list.paging, ...paging }, filters, signal)}
          />
          <Allowed to="customer:write">
            <ButtonLink to="/customers/new" tone="primary" icon={<Plus size={14} aria-hidden />}>
              New customer
            </ButtonLink>
          </Allowed>
        </>
      }
    >
      <FilterBar>
        <SearchFilter
          label="Search customers"
          value={filters.q}
          onChange={(q) => setFilters({ q })}
        />
        <ChoiceFilter
          label="Search in"
          value={filters.by === '' ? 'name' : filters.by}
          choices={[
            ['name', 'Name'],
            ['external_id', 'External id'],
            ['email', 'E-mail'],
          ]}
          onChange={(by) => setFilters({ by: by === 'name' ? '' : by })}
        />
        {filters.q === '' ? null : <ClearFilters onPress={() => setFilters(FILTERS)} />}
      </FilterBar>
      <DataTable
        label="Customers"
        query={query}
        list={list}
        columns={COLUMNS}
        rowTo={({ id }) => `/customers/${id}`}
        empty={
          filters.q === '' ? (
            <EmptyState
              title="No customers yet"
              action={
                <Allowed to="customer:write">
                  <ButtonLink to="/customers/new" tone="primary">
                    Create the first customer
                  </ButtonLink>
                </Allowed>
              }
            >
              A customer has the external id that your events carry. Its subscriptions say what the
              events cost.
            </EmptyState>
          ) : (
            <EmptyState title="No customer matches">
              Try a part of the name, or search in the external id.
            </EmptyState>
          )
        }
      />
    </Page>
  );
}
