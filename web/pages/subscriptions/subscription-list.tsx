import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { ListFile, type FileColumn } from '../../app/list-file.tsx';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { ChoiceFilter, ClearFilters, CurrencyFilter, FilterBar } from '../../ui/filter-bar.tsx';
import { useListState, type ListState } from '../../ui/list-state.ts';
import { Page } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Day, Period } from '../../ui/time.tsx';
import { SUBSCRIPTION_STATUSES } from '../../../schemas/words.ts';

type Subscription = ApiRecord<'Subscription'>;

const FILTERS = { subscription_status: '', plan_id: '', customer_id: '', currency: '' };

const COLUMNS: readonly Column<Subscription>[] = [
  { header: 'Customer', cell: ({ customer, customer_id }) => <bdi>{customer?.name ?? customer_id}</bdi> }, // prettier-ignore
  { header: 'Plan', cell: ({ plan, plan_id }) => <bdi>{plan?.name ?? plan_id}</bdi> },
  { header: 'Status', cell: (row) => <Status word={row.subscription_status} /> },
  { header: 'Billing period', wideOnly: true, cell: (row) => formatWord(row.billing_period) },
  {
    header: 'Current period',
    sort: 'current_period_end',
    wideOnly: true,
    cell: (row) => (
      <Period
        start={row.current_period_start}
        end={row.current_period_end}
        zone={row.customer_timezone}
      />
    ),
  },
  {
    header: 'Started',
    sort: 'start_date',
    wideOnly: true,
    cell: (row) => <Day at={row.start_date} zone={row.customer_timezone} />,
  },
];

const FILE: readonly FileColumn<Subscription>[] = [
  ['customer', ({ customer }) => customer?.name ?? null],
  ['external_customer_id', ({ customer }) => customer?.external_id ?? null],
  ['plan', ({ plan }) => plan?.name ?? null],
  ['status', (row) => row.subscription_status],
  ['billing_period', (row) => row.billing_period],
  ['current_period_start', (row) => row.current_period_start],
  ['current_period_end', (row) => row.current_period_end],
  ['started', (row) => row.start_date],
  ['cancels', (row) => row.cancel_at],
  ['currency', ({ currency }) => currency],
  ['id', ({ id }) => id],
];

const searched = (
  paging: ListState<never>['paging'],
  filters: Readonly<Record<keyof typeof FILTERS, string>>,
  signal: AbortSignal,
) =>
  answerOf(
    api.POST('/subscriptions/search', {
      body: {
        ...paging,
        expand: ['plan', 'customer'],
        ...(filters.customer_id === '' ? {} : { customer_id: filters.customer_id }),
        ...(filters.plan_id === '' ? {} : { plan_id: filters.plan_id }),
        ...(filters.currency === ''
          ? {}
          : {
              filters: [
                {
                  field: 'currency',
                  operator: 'eq' as const,
                  value: { string: filters.currency },
                },
              ],
            }),
        // Without statuses the API lists active subscriptions only.
        subscription_status:
          filters.subscription_status === ''
            ? [...SUBSCRIPTION_STATUSES]
            : [filters.subscription_status as Subscription['subscription_status']],
      },
      signal,
    }),
  );

/** Every subscription, with filters that a link carries. */
export function View() {
  const list = useListState(FILTERS);
  const { filters, isFiltered, setFilters } = list;
  const query = useQuery({
    queryKey: ['subscriptions', list.paging, filters],
    queryFn: ({ signal }) => searched(list.paging, filters, signal),
    placeholderData: keepPreviousData,
  });
  const create = (
    <Allowed to="subscription:write">
      <ButtonLink to="/subscriptions/new" tone="primary" icon={<Plus size={14} aria-hidden />}>
        New subscription
      </ButtonLink>
    </Allowed>
  );
  return (
    <Page
      title="Subscriptions"
      actions={
        <>
          <ListFile
            name="subscriptions"
            columns={FILE}
            page={(paging, signal) => searched({ ...list.paging, ...paging }, filters, signal)}
          />
          {create}
        </>
      }
    >
      <FilterBar>
        <ChoiceFilter
          label="Status"
          value={filters.subscription_status}
          choices={SUBSCRIPTION_STATUSES.map((word) => [word, formatWord(word)] as const)}
          onChange={(subscription_status) => setFilters({ subscription_status })}
        />
        <CurrencyFilter
          value={filters.currency}
          onChange={(currency) => setFilters({ currency })}
        />
        {isFiltered ? <ClearFilters onPress={() => setFilters(FILTERS)} /> : null}
      </FilterBar>
      <DataTable
        label="Subscriptions"
        query={query}
        list={list}
        columns={COLUMNS}
        rowTo={({ id }) => `/subscriptions/${id}`}
        empty={
          isFiltered ? (
            <EmptyState title="No subscription matches">
              Choose another status, or clear the filters.
            </EmptyState>
          ) : (
            <EmptyState title="No subscriptions yet" action={create}>
              A subscription puts a customer on a plan. You see a preview of its invoice before it
              starts.
            </EmptyState>
          )
        }
      />
    </Page>
  );
}
