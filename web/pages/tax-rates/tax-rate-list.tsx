import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { choice, contains, text } from '../../app/list/filters.tsx';
import { ListPage, listOf } from '../../app/list/list-page.tsx';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Badge, Status } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Narrow, type Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatDecimal } from '../../ui/text.ts';
import { Day } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { useUrlState } from '../../ui/url-state.ts';
import { TaxRateForm } from './tax-rate-form.tsx';

type Rate = ApiRecord<'TaxRate'>;

/** `new` opens the form of a new rate. */
const STATE = { form: '' };

const COLUMNS: readonly Column<Rate>[] = [
  {
    header: 'Tax rate',
    sort: 'name',
    cell: (rate) => (
      <>
        <bdi>{rate.name}</bdi>
        {rate.status === 'archived' ? (
          <Narrow>
            <Badge>Archived</Badge>
          </Narrow>
        ) : null}
      </>
    ),
  },
  { header: 'Code', sort: 'code', cell: ({ code }) => <code>{code}</code> },
  { header: 'Status', wideOnly: true, cell: (row) => row.status === 'archived' ? <Badge>Archived</Badge> : <Status word={row.tax_rate_status} /> }, // prettier-ignore
  {
    header: 'Created',
    sort: 'created_at',
    wideOnly: true,
    cell: ({ created_at }) => <Day at={created_at} />,
  },
  {
    header: 'Percentage',
    sort: 'percentage_value',
    align: 'end',
    cell: ({ percentage_value }) => `${formatDecimal(percentage_value)}%`,
  },
];

const RATES = listOf({
  name: 'tax-rates',
  title: 'Tax rates',
  description: 'Percentages that are added to invoices, or included in their prices.',
  filters: [
    text('q', 'Search by name'),
    choice('status', 'Status', [
      ['published', 'In the catalog'],
      ['archived', 'Archived'],
    ]),
  ],
  search: (paging, { q, status }, signal) =>
    answerOf(
      api.POST('/taxes/rates/search', {
        body: {
          ...paging,
          ...(status === '' ? {} : { status: status as Rate['status'] }),
          filters: contains('name', q),
        },
        signal,
      }),
    ),
  columns: COLUMNS,
  file: [
    ['tax_rate', ({ name }) => name],
    ['code', ({ code }) => code],
    ['percentage', (row) => row.percentage_value],
    ['tax_rate_status', (row) => row.tax_rate_status],
    ['description', ({ description }) => description],
    ['status', ({ status }) => status],
    ['created', (row) => row.created_at],
    ['id', ({ id }) => id],
  ],
  rowTo: ({ id }) => `/tax-rates/${id}`,
  unmatched: { title: 'No tax rate matches' },
});

/** The tax rates of the catalog; archived ones by the filter. */
export function View() {
  const [{ form }, setState] = useUrlState(STATE);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const create = (
    <Allowed to="tax:write">
      <Button
        tone="primary"
        icon={<Plus size={14} aria-hidden />}
        onPress={() => setState({ form: 'new' })}
      >
        New tax rate
      </Button>
    </Allowed>
  );
  return (
    <ListPage
      list={RATES}
      actions={create}
      empty={
        <EmptyState title="No tax rates yet" action={create}>
          A tax rate is assigned to everyone, to one customer or to one subscription. The most
          specific one counts.
        </EmptyState>
      }
    >
      <Dialog title="New tax rate" isOpen={form === 'new'} onClose={() => setState({ form: '' })}>
        <TaxRateForm
          rate={null}
          submit="Create tax rate"
          onSubmit={async (written) => {
            const body = { ...written, tax_rate_type: 'percentage' as const };
            const { id } = await answerOf(api.POST('/taxes/rates', { body }));
            notify('Tax rate created');
            await queries.invalidateQueries();
            await navigate({ to: `/tax-rates/${id}` });
          }}
        />
      </Dialog>
    </ListPage>
  );
}
