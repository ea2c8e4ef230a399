import { useQuery } from '@tanstack/react-query';
import { Status } from '../ui/badge.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { useListState } from '../ui/list-state.ts';
import { Page } from '../ui/page.tsx';
import { EmptyState } from '../ui/query-state.tsx';
import { formatWord } from '../ui/text.ts';
import { Day } from '../ui/time.tsx';
import { subscriptionsQuery, type Subscription } from './queries.ts';
import { isRunning, planNameOf } from './subscriptions.ts';

/** Every subscription of the customer, also those that have ended. */
export function View() {
  const list = useListState({});
  const query = useQuery(subscriptionsQuery(list.paging));
  return (
    <Page title="Subscriptions">
      <DataTable
        label="Subscriptions"
        query={query}
        list={list}
        rowTo={({ id }) => `/subscriptions/${id}`}
        columns={COLUMNS}
        empty={
          <EmptyState title="No subscription">
            A plan that you subscribe to is listed here, with its terms and its next invoice.
          </EmptyState>
        }
      />
    </Page>
  );
}

const COLUMNS: readonly Column<Subscription>[] = [
  { header: 'Plan', cell: (row) => <bdi>{planNameOf(row)}</bdi> },
  {
    header: 'Status',
    cell: ({ subscription_status }) => <Status word={subscription_status} />,
  },
  {
    header: 'Billing period',
    wideOnly: true,
    cell: ({ billing_period }) => formatWord(billing_period),
  },
  {
    header: 'Started',
    wideOnly: true,
    cell: ({ start_date, customer_timezone }) => <Day at={start_date} zone={customer_timezone} />,
  },
  {
    header: 'Next invoice',
    cell: (row) =>
      isRunning(row) ? <Day at={row.current_period_end} zone={row.customer_timezone} /> : '–',
  },
];
