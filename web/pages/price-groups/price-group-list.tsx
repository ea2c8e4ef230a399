import { Plus } from 'lucide-react';
import { contains, text } from '../../app/list/filters.tsx';
import { ListPage, listOf } from '../../app/list/list-page.tsx';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { Day } from '../../ui/time.tsx';
import { useUrlState } from '../../ui/url-state.ts';
import { NewPriceGroup } from './new-price-group.tsx';

type Group = ApiRecord<'Group'>;

/** `new` opens the form of a new group. */
const STATE = { form: '' };

const COLUMNS: readonly Column<Group>[] = [
  { header: 'Price group', sort: 'name', cell: ({ name }) => <bdi>{name}</bdi> },
  { header: 'Lookup key', wideOnly: true, cell: ({ lookup_key }) => <code>{lookup_key}</code> },
  {
    header: 'Created',
    sort: 'created_at',
    wideOnly: true,
    cell: ({ created_at }) => <Day at={created_at} />,
  },
  {
    header: 'Prices',
    align: 'end',
    cell: ({ entity_ids }) => entity_ids.length.toLocaleString('en-US'),
  },
];

const GROUPS = listOf({
  name: 'price-groups',
  title: 'Price groups',
  description: 'Prices whose spend is watched together by alerts of subscriptions.',
  filters: [text('q', 'Search by name')],
  search: (paging, { q }, signal) =>
    answerOf(
      api.POST('/groups/search', {
        body: { ...paging, entity_type: 'price', filters: contains('name', q) },
        signal,
      }),
    ),
  columns: COLUMNS,
  file: [
    ['price_group', ({ name }) => name],
    ['lookup_key', (row) => row.lookup_key],
    ['prices', (row) => String(row.entity_ids.length)],
    ['created', (row) => row.created_at],
    ['id', ({ id }) => id],
  ],
  rowTo: ({ id }) => `/price-groups/${id}`,
  unmatched: { title: 'No price group matches' },
});

/** The groups of prices of the catalog. */
export function View() {
  const [{ form }, setState] = useUrlState(STATE);
  const create = (
    <Allowed to="group:write">
      <Button
        tone="primary"
        icon={<Plus size={14} aria-hidden />}
        onPress={() => setState({ form: 'new' })}
      >
        New price group
      </Button>
    </Allowed>
  );
  return (
    <ListPage
      list={GROUPS}
      actions={create}
      empty={
        <EmptyState title="No price groups yet" action={create}>
          A group holds prices of plans and addons, for example all prices of one model. A spend
          alert of a subscription then watches their usage as one amount.
        </EmptyState>
      }
    >
      <Dialog
        title="New price group"
        isOpen={form === 'new'}
        onClose={() => setState({ form: '' })}
      >
        <NewPriceGroup />
      </Dialog>
    </ListPage>
  );
}
