import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useCustomerNames } from '../../app/customer-names.tsx';
import { ListFile, type FileColumn } from '../../app/list-file.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import {
  ChoiceFilter,
  ClearFilters,
  CurrencyFilter,
  DayFilter,
  FilterBar,
} from '../../ui/filter-bar.tsx';
import { daysOf, useListState, type ListState } from '../../ui/list-state.ts';
import { Money } from '../../ui/money.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { PAYMENT_STATUSES } from '../../../schemas/words.ts';

type Payment = ApiRecord<'Payment'>;

const FILTERS = { show: '', payment_status: '', from: '', to: '', currency: '', customer_id: '' };

const columnsOf = (names: ReadonlyMap<string, string>): readonly Column<Payment>[] => [
  { header: 'For', cell: (row) => row.invoice_number ?? formatWord(row.destination_type) },
  { header: 'Customer', cell: ({ customer_id }) => <bdi>{names.get(customer_id) ?? '–'}</bdi> },
  { header: 'Method', wideOnly: true, cell: (row) => formatWord(row.payment_method_type) },
  {
    header: 'Gateway',
    wideOnly: true,
    cell: ({ payment_gateway }) => (payment_gateway ? formatWord(payment_gateway) : '–'),
  },
  {
    header: 'Status',
    cell: ({ payment_status, error_message }) => (
      <>
        <Status word={payment_status} />
        {error_message === null ? null : (
          <div>
            <bdi>{formatWord(error_message)}</bdi>
          </div>
        )}
      </>
    ),
  },
  {
    header: 'Attempted',
    sort: 'created_at',
    wideOnly: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
  {
    header: 'Received',
    sort: 'succeeded_at',
    wideOnly: true,
    cell: ({ succeeded_at }) => <Time at={succeeded_at} />,
  },
  {
    header: 'Amount',
    sort: 'amount',
    align: 'end',
    cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
  },
];

const FILE: readonly FileColumn<Payment>[] = [
  ['invoice_number', (row) => row.invoice_number],
  ['customer_id', (row) => row.customer_id],
  ['method', (row) => row.payment_method_type],
  ['gateway', (row) => row.payment_gateway],
  ['gateway_payment_id', (row) => row.gateway_payment_id],
  ['status', (row) => row.payment_status],
  ['error', (row) => row.error_message],
  ['attempted', (row) => row.created_at],
  ['received', (row) => row.succeeded_at],
  ['currency', ({ currency }) => currency],
  ['amount', ({ amount }) => amount],
  ['id', ({ id }) => id],
];

const searched = (
  paging: ListState<never>['paging'],
  filters: Readonly<Record<keyof typeof FILTERS, string>>,
  signal: AbortSignal,
) => answerOf(api.POST('/payments/search', { body: { ...paging, ...bodyOf(filters) }, signal }));

/** Every payment, with filters that a link carries. */
export function View() {
  const list = useListState(FILTERS);
  const { filters, isFiltered, setFilters } = list;
  const query = useQuery({
    queryKey: ['payments', list.paging, filters],
    queryFn: ({ signal }) => searched(list.paging, filters, signal),
    placeholderData: keepPreviousData,
  });
  const names = useCustomerNames(query.data?.items.map(({ customer_id }) => customer_id) ?? []);
  return (
    <Page
      title="Payments"
      actions={
        <ListFile
          name="payments"
          columns={FILE}
          page={(paging, signal) => searched({ ...list.paging, ...paging }, filters, signal)}
        />
      }
    >
      <FilterBar>
        <ChoiceFilter
          label="Show"
          value={filters.show}
          choices={[['collected', 'Collected']]}
          onChange={(show) => setFilters({ show })}
        />
        <ChoiceFilter
          label="Status"
          value={filters.payment_status}
          choices={PAYMENT_STATUSES.map((word) => [word, formatWord(word)] as const)}
          onChange={(payment_status) => setFilters({ payment_status })}
        />
        <DayFilter
          label="Received from"
          value={filters.from}
          onChange={(from) => setFilters({ from })}
        />
        <DayFilter label="until" value={filters.to} onChange={(to) => setFilters({ to })} />
        <CurrencyFilter
          value={filters.currency}
          onChange={(currency) => setFilters({ currency })}
        />
        {isFiltered ? <ClearFilters onPress={() => setFilters(FILTERS)} /> : null}
      </FilterBar>
      <DataTable
        label="Payments"
        query={query}
        list={list}
        columns={columnsOf(names)}
        rowTo={({ destination_type, destination_id }) =>
          destination_type === 'INVOICE'
            ? `/invoices/${destination_id}?tab=payments`
            : `/customers/${destination_id}`
        }
        empty={
          isFiltered ? (
            <EmptyState title="No payment matches">Choose other filters, or clear them.</EmptyState>
          ) : (
            <EmptyState
              title="No payments yet"
              action={
                <ButtonLink to="/invoices" tone="primary">
                  Go to invoices
                </ButtonLink>
              }
            >
              A payment of a gateway or a wallet appears here by itself. A payment that reached your
              bank account is recorded on its invoice.
            </EmptyState>
          )
        }
      />
    </Page>
  );
}

/** Money that arrived: refunded payments are included, credits of wallets were paid for earlier. */
const COLLECTED = [
  { field: 'payment_method_type', operator: 'not_in' as const, value: { array: ['CREDITS'] } },
  {
    field: 'payment_status',
    operator: 'in' as const,
    value: { array: ['SUCCEEDED', 'OVERPAID', 'REFUNDED', 'PARTIALLY_REFUNDED'] },
  },
];

const bodyOf = (filters: Readonly<Record<keyof typeof FILTERS, string>>) => ({
  expand: ['invoice'],
  ...(filters.payment_status === ''
    ? {}
    : { payment_status: filters.payment_status as Payment['payment_status'] }),
  ...(filters.currency === '' ? {} : { currency: filters.currency }),
  ...(filters.customer_id === '' ? {} : { customer_id: filters.customer_id }),
  filters: [
    ...(filters.show === 'collected' ? COLLECTED : []),
    ...daysOf('succeeded_at', filters.from, filters.to),
  ],
});
