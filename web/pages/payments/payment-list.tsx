import { paidFor, useDrafts, type Drafts } from '../../app/billing/drafts.ts';
import { NumberCell } from '../../app/billing/number-cell.tsx';
import { useCustomerNames } from '../../app/customer-names.tsx';
import { choice, currency, day, given, linked } from '../../app/list/filters.tsx';
import type { FileColumn } from '../../app/list/list-file.tsx';
import { ListPage, listOf } from '../../app/list/list-page.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { daysOf } from '../../ui/list-state.ts';
import { Money } from '../../ui/money.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Day, Period, Time } from '../../ui/time.tsx';
import { PAYMENT_STATUSES } from '../../../schemas/words.ts';

type Payment = ApiRecord<'Payment'>;

const FILTERS = [
  choice('show', 'Show', [['collected', 'Collected']]),
  choice(
    'payment_status',
    'Status',
    PAYMENT_STATUSES.map((word) => [word, formatWord(word)] as const),
  ),
  day('from', 'Received from'),
  day('to', 'until'),
  currency,
  linked('customer_id'),
];

type Filters = Readonly<Record<(typeof FILTERS)[number]['key'], string>>;

const columnsOf = (
  names: ReadonlyMap<string, string>,
  drafts: Drafts,
): readonly Column<Payment>[] => [
  {
    header: 'For',
    cell: (row) => (
      <>
        <NumberCell
          number={paidFor(row, drafts)}
          below={[
            <bdi key="customer">{names.get(row.customer_id) ?? '–'}</bdi>,
            <Day key="day" at={row.created_at} />,
          ]}
        />
        <PeriodOf draft={drafts.get(row.destination_id)} />
      </>
    ),
  },
  {
    header: 'Customer',
    wideOnly: true,
    cell: ({ customer_id }) => <bdi>{names.get(customer_id) ?? '–'}</bdi>,
  },
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

/** A draft has no number: its period tells it from another one of the customer. */
function PeriodOf({ draft }: { readonly draft: ApiRecord<'Invoice'> | undefined }) {
  if (draft?.period_start == null || draft.period_end == null) return null;
  const { period_start, period_end, customer } = draft;
  return (
    <div>
      <Period start={period_start} end={period_end} zone={customer?.timezone ?? 'UTC'} />
    </div>
  );
}

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

const PAYMENTS = listOf({
  name: 'payments',
  title: 'Payments',
  filters: FILTERS,
  search: (paging, filters: Filters, signal) =>
    answerOf(api.POST('/payments/search', { body: { ...paging, ...bodyOf(filters) }, signal })),
  columns: (rows) =>
    columnsOf(useCustomerNames(rows.map(({ customer_id }) => customer_id)), useDrafts(rows)),
  file: FILE,
  rowTo: ({ destination_type, destination_id }) =>
    destination_type === 'INVOICE'
      ? `/invoices/${destination_id}?tab=payments`
      : `/customers/${destination_id}`,
  unmatched: { title: 'No payment matches' },
});

/** Every payment, with filters that a link carries. */
export const View = () => (
  <ListPage
    list={PAYMENTS}
    empty={
      <EmptyState
        title="No payments yet"
        action={
          <ButtonLink to="/invoices" tone="primary">
            Go to invoices
          </ButtonLink>
        }
      >
        A payment of a gateway or a wallet appears here by itself. A payment that reached your bank
        account is recorded on its invoice.
      </EmptyState>
    }
  />
);

/** Money that arrived: refunded payments are included, credits of wallets were paid for earlier. */
const COLLECTED = [
  { field: 'payment_method_type', operator: 'not_in' as const, value: { array: ['CREDITS'] } },
  {
    field: 'payment_status',
    operator: 'in' as const,
    value: { array: ['SUCCEEDED', 'OVERPAID', 'REFUNDED', 'PARTIALLY_REFUNDED'] },
  },
];

const bodyOf = ({ show, from, to, payment_status, ...texts }: Filters) => ({
  expand: ['invoice'],
  ...given({ ...texts, payment_status: payment_status as Payment['payment_status'] | '' }),
  filters: [...(show === 'collected' ? COLLECTED : []), ...daysOf('succeeded_at', from, to)],
});
