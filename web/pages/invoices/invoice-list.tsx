import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { OpenAmount } from '../../app/billing/open-amount.tsx';
import { PaymentBadge } from '../../app/billing/payment-badge.tsx';
import { isOwed } from '../../app/billing/payment-state.ts';
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
  SearchFilter,
} from '../../ui/filter-bar.tsx';
import { daysOf, useListState, type ListState } from '../../ui/list-state.ts';
import { Money } from '../../ui/money.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { Day, Period } from '../../ui/time.tsx';

type Invoice = ApiRecord<'Invoice'>;
type Status = Invoice['invoice_status'];
type PaymentStatus = Invoice['payment_status'];

const FILTERS = {
  number: '',
  invoice_status: '',
  payment_status: '',
  show: '',
  from: '',
  to: '',
  customer_id: '',
  subscription_id: '',
  issued_from: '',
  issued_to: '',
  currency: '',
};

const COLUMNS: readonly Column<Invoice>[] = [
  { header: 'Number', sort: 'invoice_number', cell: (row) => row.invoice_number ?? 'Draft' },
  { header: 'Customer', cell: ({ customer }) => <bdi>{customer?.name ?? '–'}</bdi> },
  { header: 'Status', wideOnly: true, cell: (row) => <Status word={row.invoice_status} /> },
  {
    header: 'Payment',
    cell: (row) => <PaymentBadge invoice={row} />,
  },
  {
    header: 'Period',
    wideOnly: true,
    cell: ({ period_start, period_end, customer }) =>
      period_start === null || period_end === null ? (
        '–'
      ) : (
        <Period start={period_start} end={period_end} zone={customer?.timezone ?? 'UTC'} />
      ),
  },
  {
    header: 'Due',
    sort: 'due_date',
    wideOnly: true,
    cell: (row) => <Day at={row.due_date} zone={row.customer?.timezone ?? 'UTC'} />,
  },
  {
    header: 'Total',
    sort: 'total',
    align: 'end',
    cell: (row) => <Money amount={row.total} currency={row.currency} />,
  },
  {
    header: 'Open',
    sort: 'amount_remaining',
    align: 'end',
    wideOnly: true,
    cell: (row) => <OpenAmount invoice={row} />,
  },
];

/** Amounts with all of their digits, times as instants. */
const FILE: readonly FileColumn<Invoice>[] = [
  ['number', (row) => row.invoice_number],
  ['customer', ({ customer }) => customer?.name ?? null],
  ['external_customer_id', ({ customer }) => customer?.external_id ?? null],
  ['status', (row) => row.invoice_status],
  ['payment_status', (row) => row.payment_status],
  ['issued', (row) => row.issue_date],
  ['due', (row) => row.due_date],
  ['period_start', (row) => row.period_start],
  ['period_end', (row) => row.period_end],
  ['currency', ({ currency }) => currency],
  ['subtotal', ({ subtotal }) => subtotal],
  ['discount', (row) => row.total_discount],
  ['tax', (row) => row.total_tax],
  ['total', ({ total }) => total],
  ['paid', (row) => row.amount_paid],
  ['open', (row) => (isOwed(row) ? row.amount_remaining : null)],
  ['id', ({ id }) => id],
];

const searched = (
  paging: ListState<never>['paging'],
  filters: Readonly<Record<keyof typeof FILTERS, string>>,
  signal: AbortSignal,
) => answerOf(api.POST('/invoices/search', { body: { ...paging, ...bodyOf(filters) }, signal }));

/** Every invoice, with filters that a link carries. */
export function View() {
  const list = useListState(FILTERS);
  const { filters, isFiltered, setFilters } = list;
  const query = useQuery({
    queryKey: ['invoices', list.paging, filters],
    queryFn: ({ signal }) => searched(list.paging, filters, signal),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title="Invoices"
      actions={
        <ListFile
          name="invoices"
          columns={FILE}
          page={(paging, signal) => searched({ ...list.paging, ...paging }, filters, signal)}
        />
      }
    >
      <FilterBar>
        <SearchFilter
          label="Search by number"
          value={filters.number}
          onChange={(number) => setFilters({ number })}
        />
        <ChoiceFilter
          label="Status"
          value={filters.invoice_status}
          choices={[
            ['DRAFT', 'Draft'],
            ['FINALIZED', 'Finalized'],
            ['VOIDED', 'Voided'],
            ['SKIPPED', 'Skipped'],
          ]}
          onChange={(invoice_status) => setFilters({ invoice_status })}
        />
        <ChoiceFilter
          label="Payment"
          value={filters.payment_status}
          choices={[
            ['PENDING', 'Unpaid'],
            ['PROCESSING', 'Processing'],
            ['SUCCEEDED', 'Paid'],
            ['OVERPAID', 'Overpaid'],
            ['FAILED', 'Failed'],
            ['PARTIALLY_REFUNDED', 'Partially refunded'],
            ['REFUNDED', 'Refunded'],
          ]}
          onChange={(payment_status) => setFilters({ payment_status })}
        />
        <ChoiceFilter
          label="Amount"
          value={filters.show}
          choices={[
            ['open', 'Open'],
            ['overdue', 'Overdue'],
          ]}
          onChange={(show) => setFilters({ show })}
        />
        <DayFilter
          label="Period from"
          value={filters.from}
          onChange={(from) => setFilters({ from })}
        />
        <DayFilter label="to" value={filters.to} onChange={(to) => setFilters({ to })} />
        <DayFilter
          label="Issued from"
          value={filters.issued_from}
          onChange={(issued_from) => setFilters({ issued_from })}
        />
        <DayFilter
          label="Issued until"
          value={filters.issued_to}
          onChange={(issued_to) => setFilters({ issued_to })}
        />
        <CurrencyFilter
          value={filters.currency}
          onChange={(currency) => setFilters({ currency })}
        />
        {isFiltered ? <ClearFilters onPress={() => setFilters(FILTERS)} /> : null}
      </FilterBar>
      <DataTable
        label="Invoices"
        query={query}
        list={list}
        columns={COLUMNS}
        rowTo={({ id }) => `/invoices/${id}`}
        empty={
          isFiltered ? (
            <EmptyState title="No invoice matches">Choose other filters, or clear them.</EmptyState>
          ) : (
            <EmptyState
              title="No invoices yet"
              action={
                <ButtonLink to="/subscriptions" tone="primary">
                  Go to subscriptions
                </ButtonLink>
              }
            >
              A subscription makes an invoice for each billing period: fees in advance at its start,
              usage after its end.
            </EmptyState>
          )
        }
      />
    </Page>
  );
}

function bodyOf(filters: Readonly<Record<keyof typeof FILTERS, string>>) {
  const isOverdue = filters.show === 'overdue';
  const fieldFilters = [
    ...(filters.number === ''
      ? []
      : [
          {
            field: 'invoice_number',
            operator: 'contains' as const,
            value: { string: filters.number },
          },
        ]),
    ...(isOverdue
      ? [
          {
            field: 'due_date',
            operator: 'before' as const,
            value: { date: new Date().toISOString() },
          },
        ]
      : []),
    ...daysOf('finalized_at', filters.issued_from, filters.issued_to),
  ];
  return {
    expand: ['customer'],
    skip_line_items: true,
    ...(filters.invoice_status === ''
      ? filters.show === ''
        ? {}
        : { invoice_status: ['FINALIZED'] as Status[] }
      : { invoice_status: [filters.invoice_status as Status] }),
    ...(filters.payment_status === ''
      ? {}
      : { payment_status: [filters.payment_status as PaymentStatus] }),
    ...(filters.show === '' ? {} : { amount_remaining_gt: '0' }),
    ...(filters.from === '' ? {} : { period_start_gte: `${filters.from}T00:00:00Z` }),
    ...(filters.to === '' ? {} : { period_end_lte: `${filters.to}T23:59:59.999Z` }),
    ...(filters.currency === '' ? {} : { currency: filters.currency }),
    ...(filters.customer_id === '' ? {} : { customer_id: filters.customer_id }),
    ...(filters.subscription_id === '' ? {} : { subscription_id: filters.subscription_id }),
    ...(fieldFilters.length === 0 ? {} : { filters: fieldFilters }),
  };
}
