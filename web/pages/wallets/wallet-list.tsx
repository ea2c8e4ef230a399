import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useCustomerNames } from '../../app/customer-names.tsx';
import { Allowed } from '../../app/person.tsx';
import { ListFile, type FileColumn } from '../../app/list-file.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import {
  ChoiceFilter,
  ClearFilters,
  CurrencyFilter,
  FilterBar,
  SearchFilter,
} from '../../ui/filter-bar.tsx';
import { useListState, type ListState } from '../../ui/list-state.ts';
import { fractionOf, Money, Quantity } from '../../ui/money.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Day } from '../../ui/time.tsx';

type Wallet = ApiRecord<'Wallet'>;

const FILTERS = {
  q: '',
  wallet_status: '',
  wallet_type: '',
  customer_id: '',
  alert: '',
  balance: '',
  currency: '',
};

const columnsOf = (
  names: ReadonlyMap<string, string>,
  fraction: number,
): readonly Column<Wallet>[] => [
  { header: 'Wallet', sort: 'name', cell: ({ name }) => <bdi>{name}</bdi> },
  { header: 'Customer', cell: ({ customer_id }) => <bdi>{names.get(customer_id) ?? '–'}</bdi> },
  { header: 'Type', wideOnly: true, cell: ({ wallet_type }) => formatWord(wallet_type) },
  {
    header: 'Status',
    wideOnly: true,
    cell: ({ wallet_status }) => <Status word={wallet_status} />,
  },
  { header: 'Alert', wideOnly: true, cell: ({ alert_state }) => <Status word={alert_state} /> },
  {
    header: 'Created',
    sort: 'created_at',
    wideOnly: true,
    cell: (row) => <Day at={row.created_at} />,
  },
  {
    header: 'Credits',
    sort: 'credit_balance',
    align: 'end',
    wideOnly: true,
    cell: ({ credit_balance }) => <Quantity value={credit_balance} fraction={fraction} />,
  },
  {
    header: 'Balance',
    sort: 'balance',
    align: 'end',
    cell: ({ balance, currency }) => <Money amount={balance} currency={currency} />,
  },
];

const FILE: readonly FileColumn<Wallet>[] = [
  ['wallet', ({ name }) => name],
  ['customer_id', (row) => row.customer_id],
  ['type', (row) => row.wallet_type],
  ['status', (row) => row.wallet_status],
  ['alert', (row) => row.alert_state],
  ['created', (row) => row.created_at],
  ['credits', (row) => row.credit_balance],
  ['currency', ({ currency }) => currency],
  ['balance', ({ balance }) => balance],
  ['id', ({ id }) => id],
];

const searched = (
  paging: ListState<never>['paging'],
  filters: Readonly<Record<keyof typeof FILTERS, string>>,
  signal: AbortSignal,
) => answerOf(api.POST('/wallets/search', { body: { ...paging, ...bodyOf(filters) }, signal }));

/** Every wallet with its balance. */
export function View() {
  const list = useListState(FILTERS);
  const { filters, isFiltered, setFilters } = list;
  const query = useQuery({
    queryKey: ['wallets', list.paging, filters],
    queryFn: ({ signal }) => searched(list.paging, filters, signal),
    placeholderData: keepPreviousData,
  });
  const names = useCustomerNames(query.data?.items.map(({ customer_id }) => customer_id) ?? []);
  const balances = query.data?.items.map(({ credit_balance }) => credit_balance) ?? [];
  const create = (
    <Allowed to="wallet:write">
      <ButtonLink to="/wallets/new" tone="primary" icon={<Plus size={14} aria-hidden />}>
        New wallet
      </ButtonLink>
    </Allowed>
  );
  return (
    <Page
      title="Wallets"
      actions={
        <>
          <ListFile
            name="wallets"
            columns={FILE}
            page={(paging, signal) => searched({ ...list.paging, ...paging }, filters, signal)}
          />
          {create}
        </>
      }
    >
      <FilterBar>
        <SearchFilter
          label="Search by name"
          value={filters.q}
          onChange={(q) => setFilters({ q })}
        />
        <ChoiceFilter
          label="Status"
          value={filters.wallet_status}
          choices={[
            ['active', 'Active'],
            ['frozen', 'Frozen'],
            ['closed', 'Closed'],
          ]}
          onChange={(wallet_status) => setFilters({ wallet_status })}
        />
        <ChoiceFilter
          label="Type"
          value={filters.wallet_type}
          choices={[
            ['PRE_PAID', 'Prepaid'],
            ['POST_PAID', 'Postpaid'],
          ]}
          onChange={(wallet_type) => setFilters({ wallet_type })}
        />
        <ChoiceFilter
          label="Alert"
          value={filters.alert}
          choices={[['raised', 'Raised']]}
          onChange={(alert) => setFilters({ alert })}
        />
        <ChoiceFilter
          label="Balance"
          value={filters.balance}
          choices={[['empty', 'Empty']]}
          onChange={(balance) => setFilters({ balance })}
        />
        <CurrencyFilter
          value={filters.currency}
          onChange={(currency) => setFilters({ currency })}
        />
        {isFiltered ? <ClearFilters onPress={() => setFilters(FILTERS)} /> : null}
      </FilterBar>
      <DataTable
        label="Wallets"
        query={query}
        list={list}
        columns={columnsOf(names, fractionOf(balances))}
        rowTo={({ id }) => `/wallets/${id}`}
        empty={
          isFiltered ? (
            <EmptyState title="No wallet matches">Choose other filters, or clear them.</EmptyState>
          ) : (
            <EmptyState title="No wallets yet" action={create}>
              A wallet holds prepaid credits of a customer. Invoices are paid from it first, from
              the credits that expire soonest.
            </EmptyState>
          )
        }
      />
    </Page>
  );
}

const bodyOf = (filters: Readonly<Record<keyof typeof FILTERS, string>>) => ({
  ...(filters.customer_id === '' ? {} : { customer_id: filters.customer_id }),
  ...(filters.currency === '' ? {} : { currency: filters.currency }),
  ...(filters.wallet_status === ''
    ? {}
    : { wallet_status: filters.wallet_status as Wallet['wallet_status'] }),
  ...(filters.wallet_type === ''
    ? {}
    : { wallet_type: filters.wallet_type as Wallet['wallet_type'] }),
  filters: [
    ...(filters.q === ''
      ? []
      : [{ field: 'name', operator: 'contains' as const, value: { string: filters.q } }]),
    ...(filters.alert === ''
      ? []
      : [{ field: 'alert_state', operator: 'not_in' as const, value: { array: ['ok'] } }]),
    ...(filters.balance === ''
      ? []
      : [{ field: 'balance', operator: 'lte' as const, value: { number: '0' } }]),
  ],
});
