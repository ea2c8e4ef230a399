import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { choice, contains, text } from '../../app/list/filters.tsx';
import { ListPage, listOf } from '../../app/list/list-page.tsx';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { Day } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { useUrlState } from '../../ui/url-state.ts';
import { AddonForm } from './addon-form.tsx';

type Addon = ApiRecord<'Addon'>;

/** `new` opens the form of a new addon. */
const STATE = { form: '' };

const COLUMNS: readonly Column<Addon>[] = [
  { header: 'Addon', sort: 'name', cell: ({ name }) => <bdi>{name}</bdi> },
  { header: 'Lookup key', cell: ({ lookup_key }) => <code>{lookup_key}</code> },
  { header: 'Description', wideOnly: true, cell: ({ description }) => <bdi>{description || '–'}</bdi> }, // prettier-ignore
  { header: 'Status', cell: ({ status }) => <Status word={status} /> },
  {
    header: 'Created',
    sort: 'created_at',
    wideOnly: true,
    cell: ({ created_at }) => <Day at={created_at} />,
  },
];

const ADDONS = listOf({
  name: 'addons',
  title: 'Addons',
  description: 'Prices, limits and credits that a subscription may have beside its plan.',
  filters: [
    text('q', 'Search by name'),
    choice('status', 'Status', [
      ['active', 'Published'],
      ['cancelled', 'Archived'],
    ]),
  ],
  search: (paging, { q, status }, signal) =>
    answerOf(
      api.POST('/addons/search', {
        body: {
          ...paging,
          filters: contains('name', q),
          addon_statuses:
            status === '' ? ['active', 'cancelled'] : [status as 'active' | 'cancelled'],
        },
        signal,
      }),
    ),
  columns: COLUMNS,
  file: [
    ['addon', ({ name }) => name],
    ['lookup_key', (row) => row.lookup_key],
    ['description', ({ description }) => description],
    ['status', ({ status }) => status],
    ['created', (row) => row.created_at],
    ['id', ({ id }) => id],
  ],
  rowTo: ({ id }) => `/addons/${id}`,
  unmatched: { title: 'No addon matches' },
});

/** Every addon of the catalog, archived ones included. */
export function View() {
  const [{ form }, setState] = useUrlState(STATE);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const create = (
    <Allowed to="addon:write">
      <Button
        tone="primary"
        icon={<Plus size={14} aria-hidden />}
        onPress={() => setState({ form: 'new' })}
      >
        New addon
      </Button>
    </Allowed>
  );
  return (
    <ListPage
      list={ADDONS}
      actions={create}
      empty={
        <EmptyState title="No addons yet" action={create}>
          An addon is sold beside a plan: seats, a support package, more included usage.
        </EmptyState>
      }
    >
      <Dialog title="New addon" isOpen={form === 'new'} onClose={() => setState({ form: '' })}>
        <AddonForm
          addon={null}
          submit="Create addon"
          onSubmit={async (body) => {
            const { id } = await answerOf(api.POST('/addons', { body }));
            notify('Addon created');
            await queries.invalidateQueries();
            await navigate({ to: `/addons/${id}` });
          }}
        />
      </Dialog>
    </ListPage>
  );
}
