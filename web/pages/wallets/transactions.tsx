import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useInvoiceNumbers } from '../../app/billing/invoice-numbers.ts';
import { NumberCell } from '../../app/billing/number-cell.tsx';
import { creditReasonOf } from '../../app/billing/credit-reasons.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { ListFile, type FileColumn } from '../../app/list/list-file.tsx';
import { Status } from '../../ui/badge.tsx';
import { DataTable, Narrow, type Column } from '../../ui/data-table.tsx';
import { ChoiceFilter, FilterBar } from '../../ui/filter-bar.tsx';
import { useListState, type ListState } from '../../ui/list-state.ts';
import { fractionOf, Quantity } from '../../ui/money.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatDecimal } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';

type Transaction = ApiRecord<'WalletTransaction'>;

const FILTERS = { type: '', tab: 'transactions' };

/** Every credit and debit, and of a debit the blocks that paid it. */
export function Transactions({ wallet }: { readonly wallet: ApiRecord<'WalletBalance'> }) {
  const list = useListState(FILTERS);
  const { type } = list.filters;
  const searched = (paging: ListState<never>['paging'], signal: AbortSignal) =>
    answerOf(
      api.POST('/wallets/transactions/search', {
        body: {
          ...paging,
          wallet_id: wallet.id,
          ...(type === '' ? {} : { type: type as Transaction['type'] }),
        },
        signal,
      }),
    );
  const query = useQuery({
    queryKey: ['wallet-transactions', wallet.id, list.paging, type],
    queryFn: ({ signal }) => searched(list.paging, signal),
    placeholderData: keepPreviousData,
  });
  const rows = query.data?.items ?? [];
  const numbers = useInvoiceNumbers(
    rows.flatMap((row) => (row.reference_type === 'INVOICE' ? [row.reference_id] : [])),
  );
  return (
    <>
      <FilterBar>
        <ChoiceFilter
          label="Type"
          value={type}
          choices={[
            ['credit', 'Credit'],
            ['debit', 'Debit'],
          ]}
          onChange={(chosen) => list.setFilters({ type: chosen })}
        />
        <ListFile
          name={`transactions-of-${wallet.id}`}
          columns={FILE}
          page={(paging, signal) => searched({ ...list.paging, ...paging }, signal)}
        />
      </FilterBar>
      <DataTable
        label="Transactions"
        query={query}
        list={list}
        columns={columnsOf(
          fractionOf(rows.flatMap((row) => [row.credit_amount, row.credit_balance_after])),
          numbers,
          new Map(rows.map((row) => [row.id, creditReasonOf(row)])),
        )}
        empty={
          <EmptyState title="No transactions">
            Top-ups, payments of invoices and expiries are listed here.
          </EmptyState>
        }
      />
    </>
  );
}

const FILE: readonly FileColumn<Transaction>[] = [
  ['time', (row) => row.created_at],
  ['type', ({ type }) => type],
  ['reason', (row) => row.transaction_reason],
  ['status', (row) => row.transaction_status],
  ['reference_type', (row) => row.reference_type],
  ['reference_id', (row) => row.reference_id],
  [
    'credits',
    ({ type, credit_amount }) => (type === 'debit' ? negated(credit_amount) : credit_amount),
  ],
  ['balance_after', (row) => row.credit_balance_after],
  ['expires', (row) => row.expiry_date],
  ['id', ({ id }) => id],
];

const columnsOf = (
  fraction: number,
  numbers: ReadonlyMap<string, string>,
  reasons: ReadonlyMap<string, string>,
): readonly Column<Transaction>[] => [
  { header: 'Time', sort: 'created_at', cell: ({ created_at }) => <Time at={created_at} /> },
  { header: 'Description', cell: (row) => <What row={row} numbers={numbers} /> },
  {
    header: 'Status',
    wideOnly: true,
    cell: ({ transaction_status }) => <Status word={transaction_status} />,
  },
  {
    header: 'Credits used from',
    wideOnly: true,
    cell: ({ consumption_breakdown }) =>
      consumption_breakdown.length === 0
        ? '–'
        : consumption_breakdown.map(({ credit_transaction_id, credits }) => (
            <div key={credit_transaction_id}>
              {formatDecimal(credits)} of {reasons.get(credit_transaction_id)}{' '}
              <code>…{credit_transaction_id.slice(-6)}</code>
            </div>
          )),
  },
  {
    header: 'Credits',
    sort: 'credit_amount',
    align: 'end',
    cell: ({ type, credit_amount, credit_balance_after }) => (
      <>
        <Quantity
          value={type === 'debit' ? negated(credit_amount) : credit_amount}
          fraction={fraction}
        />
        <Narrow>
          balance <Quantity value={credit_balance_after} fraction={fraction} />
        </Narrow>
      </>
    ),
  },
  {
    header: 'Balance after',
    align: 'end',
    wideOnly: true,
    cell: ({ credit_balance_after }) => (
      <Quantity value={credit_balance_after} fraction={fraction} />
    ),
  },
];

function What({
  row,
  numbers,
}: {
  readonly row: Transaction;
  readonly numbers: ReadonlyMap<string, string>;
}) {
  return (
    <>
      {creditReasonOf(row)}
      {row.type === 'credit' ? (
        <>
          {' '}
          <code>…{row.id.slice(-6)}</code>
        </>
      ) : null}
      {row.reference_type === 'INVOICE' ? (
        <div>
          <Link to={`/invoices/${row.reference_id}`}>
            <NumberCell number={numbers.get(row.reference_id) ?? 'Invoice'} />
          </Link>
        </div>
      ) : null}
      {row.description === '' || row.reference_type === 'INVOICE' ? null : (
        <div>
          <bdi>{row.description}</bdi>
        </div>
      )}
    </>
  );
}

const negated = (amount: string): string =>
  amount.startsWith('-') || amount === '0' ? amount : `-${amount}`;
