import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { creditReasonOf } from '../app/billing/credit-reasons.ts';
import { NumberCell } from '../app/billing/number-cell.tsx';
import type { ApiRecord } from '../client/api.ts';
import { Status } from '../ui/badge.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { useListState } from '../ui/list-state.ts';
import { fractionOf, Quantity } from '../ui/money.tsx';
import { EmptyState } from '../ui/query-state.tsx';
import { Time } from '../ui/time.tsx';
import { usePageLabel, useZone } from './portal.ts';
import { invoicesQuery, transactionsQuery } from './queries.ts';

type Transaction = ApiRecord<'WalletTransaction'>;

/** The newest invoices, whose numbers are shown; an older one is called Invoice. */
const INVOICES = { limit: 100, offset: 0 };

/** Every credit and debit of a wallet, newest first. */
export function Transactions({ walletId }: { readonly walletId: string }) {
  const list = useListState({});
  const zone = useZone();
  const hasInvoices = usePageLabel('invoices') !== null;
  const { limit, offset } = list.paging;
  const query = useQuery(transactionsQuery(walletId, { limit, offset }));
  const invoices = useQuery(invoicesQuery(INVOICES));
  const rows = query.data?.items ?? [];
  const numbers = new Map(
    invoices.data?.items.map(({ id, invoice_number }) => [id, invoice_number]),
  );
  return (
    <DataTable
      label="Transactions"
      query={query}
      list={list}
      columns={columnsOf(
        zone,
        fractionOf(rows.flatMap((row) => [row.credit_amount, row.credit_balance_after])),
        numbers,
        hasInvoices,
      )}
      empty={
        <EmptyState title="No transaction yet">
          Credits that you buy or are given, and what they pay, are listed here.
        </EmptyState>
      }
    />
  );
}

const columnsOf = (
  zone: string,
  fraction: number,
  numbers: ReadonlyMap<string, string | null>,
  hasInvoices: boolean,
): readonly Column<Transaction>[] => [
  { header: 'Time', cell: ({ created_at }) => <Time at={created_at} zone={zone} /> },
  {
    header: 'Description',
    cell: ({ reference_type, reference_id, description, ...row }) => (
      <>
        {creditReasonOf({ ...row, reference_type })}
        {reference_type === 'INVOICE' ? (
          <div>
            {hasInvoices ? (
              <Link to={`/invoices/${reference_id}`}>
                <NumberCell number={numbers.get(reference_id) ?? 'Invoice'} />
              </Link>
            ) : (
              <NumberCell number={numbers.get(reference_id) ?? 'Invoice'} />
            )}
          </div>
        ) : null}
        {description === '' || reference_type === 'INVOICE' ? null : (
          <div>
            <bdi>{description}</bdi>
          </div>
        )}
      </>
    ),
  },
  {
    header: 'Status',
    wideOnly: true,
    cell: ({ transaction_status }) => <Status word={transaction_status} />,
  },
  {
    header: 'Credits',
    align: 'end',
    cell: ({ type, credit_amount }) => (
      <Quantity
        value={type === 'debit' && credit_amount !== '0' ? `-${credit_amount}` : credit_amount}
        fraction={fraction}
      />
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
