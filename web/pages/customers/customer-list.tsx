import { Plus } from 'lucide-react';
import { contains, kind, text } from '../../app/list/filters.tsx';
import type { FileColumn } from '../../app/list/list-file.tsx';
import { ListPage, listOf } from '../../app/list/list-page.tsx';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { ButtonLink } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { Day } from '../../ui/time.tsx';

const COLUMNS: readonly Column<ApiRecord<'Customer'>>[] = [
  { header: 'Name', sort: 'name', cell: ({ name }) => <bdi>{name}</bdi> },
  { header: 'External id', sort: 'external_id', cell: (row) => <code>{row.external_id}</code> },
  { header: 'E-mail', wideOnly: true, cell: ({ email }) => email || '–' },
  { header: 'Country', wideOnly: true, cell: (row) => row.address_country || '–' },
  { header: 'Time zone', wideOnly: true, cell: ({ timezone }) => timezone },
  {
    header: 'Created',
    sort: 'created_at',
    wideOnly: true,
    cell: ({ created_at }) => <Day at={created_at} />,
  },
];

const FILE: readonly FileColumn<ApiRecord<'Customer'>>[] = [
  ['name', ({ name }) => name],
  ['external_id', (row) => row.external_id],
  ['email', ({ email }) => email],
  ['country', (row) => row.address_country],
  ['timezone', ({ timezone }) => timezone],
  ['created', (row) => row.created_at],
  ['id', ({ id }) => id],
];

const CUSTOMERS = listOf({
  name: 'customers',
  title: 'Customers',
  filters: [
    text('q', 'Search customers'),
    kind('by', 'Search in', [
      ['name', 'Name or external id'],
      ['external_id', 'External id'],
      ['email', 'E-mail'],
    ]),
  ],
  async search(paging, { q, by }, signal) {
    const found = async (field: string) => {
      const body = { ...paging, filters: contains(field, q) };
      return await answerOf(api.POST('/customers/search', { body, signal }));
    };
    const first = await found(by);
    // No name has the text: it may be of an external id.
    return by === 'name' && q !== '' && first.pagination.total === 0
      ? await found('external_id')
      : first;
  },
  columns: COLUMNS,
  file: FILE,
  rowTo: ({ id }) => `/customers/${id}`,
  unmatched: {
    title: 'No customer matches',
    advice: 'No name and no external id contains the text. Try a part of it, or the e-mail.',
  },
});

/** Every customer, found by name, external id or e-mail. */
export const View = () => (
  <ListPage
    list={CUSTOMERS}
    actions={
      <Allowed to="customer:write">
        <ButtonLink to="/customers/new" tone="primary" icon={<Plus size={14} aria-hidden />}>
          New customer
        </ButtonLink>
      </Allowed>
    }
    empty={
      <EmptyState
        title="No customers yet"
        action={
          <Allowed to="customer:write">
            <ButtonLink to="/customers/new" tone="primary">
              Create the first customer
            </ButtonLink>
          </Allowed>
        }
      >
        A customer has the external id that your events carry. Its subscriptions say what the events
        cost.
      </EmptyState>
    }
  />
);
