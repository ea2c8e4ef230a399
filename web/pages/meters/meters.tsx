import { Plus } from 'lucide-react';
import { given, text } from '../../app/list/filters.tsx';
import { ListPage, listOf } from '../../app/list/list-page.tsx';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { Day } from '../../ui/time.tsx';
import { inWords } from './in-words.ts';

type Meter = ApiRecord<'Meter'>;

const COLUMNS: readonly Column<Meter>[] = [
  { header: 'Name', cell: ({ name }) => name, sort: 'name' },
  { header: 'Aggregation', cell: inWords },
  {
    header: 'Event',
    cell: ({ event_name }) => <code>{event_name}</code>,
    sort: 'event_name',
    wideOnly: true,
  },
  { header: 'Status', cell: ({ status }) => <Status word={status} /> },
  {
    header: 'Created',
    cell: ({ created_at }) => <Day at={created_at} />,
    sort: 'created_at',
    wideOnly: true,
  },
];

const METERS = listOf({
  name: 'meters',
  title: 'Meters',
  description: 'What turns events into quantities.',
  filters: [text('event_name', 'Event name')],
  search: (paging, filters, signal) =>
    answerOf(api.POST('/meters/search', { body: { ...paging, ...given(filters) }, signal })),
  columns: COLUMNS,
  file: [
    ['name', ({ name }) => name],
    ['aggregation', inWords],
    ['event_name', (row) => row.event_name],
    ['status', ({ status }) => status],
    ['created', (row) => row.created_at],
    ['id', ({ id }) => id],
  ],
  rowTo: ({ id }) => `/meters/${id}`,
  unmatched: {
    title: 'No meter matches',
    advice: 'Event names are compared exactly, including upper and lower case.',
  },
});

/** Meters: what turns events into quantities. */
export function View() {
  const create = (
    <Allowed to="meter:write">
      <ButtonLink to="/meters/new" tone="primary" icon={<Plus size={14} aria-hidden />}>
        New meter
      </ButtonLink>
    </Allowed>
  );
  return (
    <ListPage
      list={METERS}
      actions={create}
      empty={
        <EmptyState title="No meter yet" action={create}>
          A meter picks events by their name and properties, and turns each into a quantity: a
          count, a sum, the highest value. Try it on an event before you save it.
        </EmptyState>
      }
    />
  );
}
