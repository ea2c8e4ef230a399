import { Plus } from 'lucide-react';
import { OpenAmount } from '../../app/billing/open-amount.tsx';
import { InvoicePayment } from '../../app/billing/invoice-payment.tsx';
import { invoiceName } from '../../app/billing/invoice-name.ts';
import { NumberCell } from '../../app/billing/number-cell.tsx';
import { isOwed } from '../../app/billing/payment-state.ts';
import { choice, contains, currency, day, given, linked, text } from '../../app/list/filters.tsx';
import type { FileColumn } from '../../app/list/list-file.tsx';
import { ListPage, listOf } from '../../app/list/list-page.tsx';
import { Allowed } from '../../app/person.tsx';
import { timeOfCustomer } from '../../app/customer-time.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { daysOf } from '../../ui/list-state.ts';
import { Money } from '../../ui/money.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Day, Period } from '../../ui/time.tsx';

type Invoice = ApiRecord<'Invoice'>;

const FILTERS = [
  text('number', 'Search by number'),
  choice('invoice_status', 'Status', [
    ['DRAFT', 'Draft'],
    ['FINALIZED', 'Finalized'],
    ['VOIDED', 'Voided'],
    ['SKIPPED', 'Skipped'],
  ]),
  choice('payment_status', 'Payment', [
    ['PENDING', 'Unpaid'],
    ['PROCESSING', 'Processing'],
    ['SUCCEEDED', 'Paid'],
    ['OVERPAID', 'Overpaid'],
    ['FAILED', 'Failed'],
    ['PARTIALLY_REFUNDED', 'Partially refunded'],
    ['REFUNDED', 'Refunded'],
  ]),
  choice('show', 'Amount', [
    ['open', 'Open'],
    ['overdue', 'Overdue'],
  ]),
  day('from', 'Period from'),
  day('to', 'to'),
  day('issued_from', 'Issued from'),
  day('issued_to', 'Issued until'),
  currency,
  linked('customer_id'),
  linked('subscription_id'),
];

type Filters = Readonly<Record<(typeof FILTERS)[number]['key'], string>>;

const COLUMNS: readonly Column<Invoice>[] = [
  {
    header: 'Number',
    sort: 'invoice_number',
    cell: (row) => {
      const isPlain = row.invoice_status === 'FINALIZED' || row.invoice_number === null;
      return (
        <NumberCell
          number={invoiceName(row)}
          below={[
            <bdi>{row.customer?.name ?? '–'}</bdi>,
            ...(isPlain ? [] : [formatWord(row.invoice_status)]),
          ]}
        />
      );
    },
  },
  {
    header: 'Customer',
    wideOnly: true,
    cell: ({ customer }) => <bdi>{customer?.name ?? '–'}</bdi>,
  },
  { header: 'Status', wideOnly: true, cell: (row) => <Status word={row.invoice_status} /> },
  {
    header: 'Payment',
    cell: (row) => <InvoicePayment invoice={row} />,
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
    header: 'Amount due',
    sort: 'amount_remaining',
    align: 'end',
    wideOnly: true,
    cell: (row) => <OpenAmount invoice={row} />,
  },
];

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
  ['amount_due', (row) => (isOwed(row) ? row.amount_remaining : null)],
  ['id', ({ id }) => id],
];

const INVOICES = listOf({
  name: 'invoices',
  title: 'Invoices',
  filters: FILTERS,
  search: async (paging, filters: Filters, signal) => {
    const body = { ...paging, ...bodyOf(filters, await overdueAt(filters, signal)) };
    return await answerOf(api.POST('/invoices/search', { body, signal }));
  },
  columns: COLUMNS,
  file: FILE,
  rowTo: ({ id }) => `/invoices/${id}`,
  unmatched: { title: 'No invoice matches' },
});

/** Every invoice, with filters that a link carries. */
export const View = () => (
  <ListPage
    list={INVOICES}
    actions={
      <Allowed to="invoice:write">
        <ButtonLink to="/invoices/new" tone="primary" icon={<Plus size={14} aria-hidden />}>
          New invoice
        </ButtonLink>
      </Allowed>
    }
    empty={
      <EmptyState
        title="No invoices yet"
        action={
          <ButtonLink to="/subscriptions" tone="primary">
            Go to subscriptions
          </ButtonLink>
        }
      >
        A subscription makes an invoice for each billing period: fees in advance at its start, usage
        after its end.
      </EmptyState>
    }
  />
);

/** The time after the due dates of overdue invoices: that of the chosen customer. Null: overdue or not. */
async function overdueAt({ show, customer_id }: Filters, signal: AbortSignal) {
  if (show !== 'overdue') return null;
  return customer_id === '' ? new Date().toISOString() : await timeOfCustomer(customer_id, signal);
}

function bodyOf(filters: Filters, overdue: string | null) {
  const { show, from, to, invoice_status, payment_status, customer_id, subscription_id } = filters;
  // What is open or overdue is a finalized invoice, unless another status is chosen.
  const status = invoice_status === '' && show !== '' ? 'FINALIZED' : invoice_status;
  return {
    expand: ['customer'],
    skip_line_items: true,
    ...given({ currency: filters.currency, customer_id, subscription_id }),
    ...(status === '' ? {} : { invoice_status: [status as Invoice['invoice_status']] }),
    ...(payment_status === ''
      ? {}
      : { payment_status: [payment_status as Invoice['payment_status']] }),
    ...(show === '' ? {} : { amount_remaining_gt: '0' }),
    ...(from === '' ? {} : { period_start_gte: `${from}T00:00:00Z` }),
    ...(to === '' ? {} : { period_end_lte: `${to}T23:59:59.999Z` }),
    filters: [
      ...contains('invoice_number', filters.number),
      ...(overdue === null ? [] : [dueBefore(overdue)]),
      ...daysOf('finalized_at', filters.issued_from, filters.issued_to),
    ],
  };
}

const dueBefore = (date: string) => ({
  field: 'due_date',
  operator: 'before' as const,
  value: { date },
});
