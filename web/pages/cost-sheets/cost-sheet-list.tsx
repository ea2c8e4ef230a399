import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { choice, contains, text } from '../../app/list/filters.tsx';
import { ListPage, listOf } from '../../app/list/list-page.tsx';
import { Allowed } from '../../app/person.tsx';
import { TermsForm } from '../../app/offer/terms-form.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { Day } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { useUrlState } from '../../ui/url-state.ts';

type CostSheet = ApiRecord<'Costsheet'>;

/** `new` opens the form of a new cost sheet. */
const STATE = { form: '' };

const COLUMNS: readonly Column<CostSheet>[] = [
  { header: 'Cost sheet', sort: 'name', cell: ({ name }) => <bdi>{name}</bdi> },
  { header: 'Description', wideOnly: true, cell: ({ description }) => <bdi>{description || '–'}</bdi> }, // prettier-ignore
  { header: 'Status', cell: ({ status }) => <Status word={status} /> },
  { header: 'Created', sort: 'created_at', cell: ({ created_at }) => <Day at={created_at} /> },
];

const COST_SHEETS = listOf({
  name: 'cost-sheets',
  title: 'Cost sheets',
  description: 'What usage costs you. The newest published sheet counts for the margin.',
  filters: [
    text('q', 'Search by name'),
    choice('status', 'Status', [
      ['published', 'Published'],
      ['deleted', 'Deleted'],
    ]),
  ],
  search: (paging, { q, status }, signal) =>
    answerOf(
      api.POST('/costs/search', {
        body: {
          ...paging,
          filters: contains('name', q),
          ...(status === '' ? {} : { status: status as 'published' }),
        },
        signal,
      }),
    ),
  columns: COLUMNS,
  file: [
    ['cost_sheet', ({ name }) => name],
    ['lookup_key', (row) => row.lookup_key],
    ['description', ({ description }) => description],
    ['status', ({ status }) => status],
    ['created', (row) => row.created_at],
    ['id', ({ id }) => id],
  ],
  rowTo: ({ id }) => `/cost-sheets/${id}`,
  unmatched: { title: 'No cost sheet matches' },
});

/** Every cost sheet, deleted ones included. */
export function View() {
  const [{ form }, setState] = useUrlState(STATE);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const create = (
    <Allowed to="costsheet:write">
      <Button
        tone="primary"
        icon={<Plus size={14} aria-hidden />}
        onPress={() => setState({ form: 'new' })}
      >
        New cost sheet
      </Button>
    </Allowed>
  );
  return (
    <ListPage
      list={COST_SHEETS}
      actions={create}
      empty={
        <EmptyState title="No cost sheets yet" action={create}>
          A cost sheet has what a unit of each meter costs you. Analytics compares it with what
          customers pay.
        </EmptyState>
      }
    >
      <Dialog title="New cost sheet" isOpen={form === 'new'} onClose={() => setState({ form: '' })}>
        <TermsForm
          stored={null}
          exampleKey="costs-2027"
          submit="Create cost sheet"
          onSubmit={async (body) => {
            const { costsheet } = await answerOf(api.POST('/costs', { body }));
            notify('Cost sheet created');
            await queries.invalidateQueries();
            await navigate({ to: `/cost-sheets/${costsheet.id}` });
          }}
        />
      </Dialog>
    </ListPage>
  );
}
