import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useCustomerNames } from '../../app/customer-names.tsx';
import { day, Filters, linked, unset } from '../../app/list/filters.tsx';
import { ListFile, type FileColumn } from '../../app/list/list-file.tsx';
import { PlainTable, type Column } from '../../ui/data-table.tsx';
import { useListState } from '../../ui/list-state.ts';
import { Money } from '../../ui/money.tsx';
import { Page, Stack } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { Awaiting, EmptyState, Failure } from '../../ui/query-state.tsx';
import { Period } from '../../ui/time.tsx';
import { comparedInvoices, type LateUsage } from './compared-invoices.ts';
import { reasonOf } from './late-usage.ts';

type Row = LateUsage & { readonly id: string };

const FILTERS = [day('from', 'Period from'), day('to', 'to'), linked('customer_id')];

const FILE: readonly FileColumn<Row>[] = [
  ['number', (row) => row.invoice_number],
  ['customer_id', (row) => row.customer_id],
  ['period_start', (row) => row.period_start],
  ['period_end', (row) => row.period_end],
  ['reason', reasonsOf],
  ['currency', ({ currency }) => currency],
  ['difference', (row) => row.amount_difference],
  ['settled', (row) => row.settled_amount],
  ['outstanding', (row) => row.outstanding_amount],
  ['invoice_id', ({ id }) => id],
];

/** Finalized invoices whose usage is another today: events came late, or were withdrawn. */
export function View() {
  const list = useListState(unset(FILTERS));
  const { from, to, customer_id } = list.filters;
  const [compared, setCompared] = useState({ done: 0, total: 0 });
  const query = useQuery({
    queryKey: ['late-usage', list.filters],
    queryFn: async ({ signal }) => {
      const asked = {
        ...(from === '' ? {} : { period_start_gte: `${from}T00:00:00Z` }),
        ...(to === '' ? {} : { period_end_lte: `${to}T23:59:59.999Z` }),
        ...(customer_id === '' ? {} : { customer_id }),
      };
      const found = await comparedInvoices(asked, signal, (done, total) =>
        setCompared({ done, total }),
      );
      return found.map((late): Row => ({ ...late, id: late.invoice_id }));
    },
  });
  const rows = query.data ?? [];
  const names = useCustomerNames(rows.map((row) => row.customer_id));
  return (
    <Page
      title="Late usage"
      crumbs={[{ label: 'Invoices', to: '/invoices' }]}
      description="Finalized invoices whose usage differs today from what was billed. A person decides what is charged or credited."
      actions={
        query.data === undefined ? undefined : (
          <ListFile
            name="late-usage"
            columns={FILE}
            page={async ({ limit, offset }) => ({
              items: rows.slice(offset, offset + limit),
              pagination: { total: rows.length, limit, offset },
            })}
          />
        )
      }
    >
      <Filters of={FILTERS} state={list} isFiltered={list.isFiltered} />
      {query.isError ? <Failure error={query.error} retry={query.refetch} /> : null}
      {!query.isPending ? null : compared.total === 0 ? (
        <Awaiting what="the invoices" />
      ) : (
        <Progress label="Invoices compared" done={compared.done} of={compared.total} />
      )}
      {query.data === undefined ? null : rows.length === 0 ? (
        <EmptyState
          title={list.isFiltered ? 'No invoice differs' : 'No late usage'}
          action={<Link to="/invoices">Go to invoices</Link>}
        >
          No finalized invoice differs from today’s counts.
        </EmptyState>
      ) : (
        <Stack>
          <PlainTable
            label="Invoices with late usage"
            rows={rows}
            rowTo={({ id }) => `/late-usage/${id}`}
            columns={columnsOf(names)}
          />
        </Stack>
      )}
    </Page>
  );
}

function reasonsOf({ lines, refusal }: Pick<LateUsage, 'lines' | 'refusal'>): string {
  return refusal ?? lines.map((line) => `${line.display_name ?? 'Usage'}: ${reasonOf(line)}`).join('; '); // prettier-ignore
}

const columnsOf = (names: ReadonlyMap<string, string>): readonly Column<Row>[] => [
  { header: 'Invoice', isWhole: true, cell: (row) => row.invoice_number ?? 'Without a number' },
  { header: 'Customer', cell: (row) => <bdi>{names.get(row.customer_id) ?? '–'}</bdi> },
  {
    header: 'Period',
    wideOnly: true,
    cell: ({ period_start: start, period_end: end }) =>
      start === null || end === null ? '–' : <Period start={start} end={end} zone="UTC" />,
  },
  { header: 'Reason', wideOnly: true, cell: (row) => <bdi>{reasonsOf(row)}</bdi> },
  {
    header: 'Difference',
    align: 'end',
    wideOnly: true,
    cell: (row) => <Money amount={row.amount_difference} currency={row.currency} />,
  },
  {
    header: 'Outstanding',
    align: 'end',
    cell: (row) => <Money amount={row.outstanding_amount} currency={row.currency} />,
  },
];
