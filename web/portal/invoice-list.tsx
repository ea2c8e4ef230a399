import { OpenAmount } from '../app/billing/open-amount.tsx';
import { invoiceName } from '../app/billing/invoice-name.ts';
import { NumberCell } from '../app/billing/number-cell.tsx';
import { PaymentBadge } from '../app/billing/payment-badge.tsx';
import { useQuery } from '@tanstack/react-query';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { useListState } from '../ui/list-state.ts';
import { Money } from '../ui/money.tsx';
import { Page } from '../ui/page.tsx';
import { EmptyState } from '../ui/query-state.tsx';
import { Day } from '../ui/time.tsx';
import { usePageLabel, usePortal } from './portal.ts';
import { invoicesQuery, type Invoice } from './queries.ts';

/** The customer's invoices, newest first. */
export function View() {
  const list = useListState({});
  const { timezone, now } = usePortal().customer;
  const query = useQuery(invoicesQuery(list.paging));
  return (
    <Page title={usePageLabel('invoices')}>
      <DataTable
        label="Invoices"
        query={query}
        list={list}
        rowTo={({ id }) => `/invoices/${id}`}
        columns={columnsOf(timezone, now)}
        empty={
          <EmptyState title="No invoice yet">
            An invoice is listed here as soon as it is issued. You can read it, save it as a file
            and pay it.
          </EmptyState>
        }
      />
    </Page>
  );
}

const columnsOf = (zone: string, now: string): readonly Column<Invoice>[] => [
  {
    header: 'Number',
    cell: (row) => (
      <NumberCell
        number={invoiceName(row)}
        below={[<Day key="issued" at={row.issue_date} zone={zone} />]}
      />
    ),
  },
  {
    header: 'Issued',
    wideOnly: true,
    cell: ({ issue_date }) => <Day at={issue_date} zone={zone} />,
  },
  {
    header: 'Due',
    wideOnly: true,
    cell: ({ due_date }) => <Day at={due_date} zone={zone} />,
  },
  {
    header: 'Status',
    cell: (invoice) => <PaymentBadge invoice={invoice} at={now} />,
  },
  {
    header: 'Total',
    align: 'end',
    cell: ({ total, currency }) => <Money amount={total} currency={currency} />,
  },
  {
    header: 'Amount due',
    align: 'end',
    wideOnly: true,
    cell: (invoice) => <OpenAmount invoice={invoice} />,
  },
];
