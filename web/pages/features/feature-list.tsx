import { Plus } from 'lucide-react';
import { choice, given, text } from '../../app/list/filters.tsx';
import { ListPage, listOf } from '../../app/list/list-page.tsx';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { ButtonLink } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Day } from '../../ui/time.tsx';
import { FEATURE_TYPES } from '../../../schemas/words.ts';

type Feature = ApiRecord<'Feature'>;

const COLUMNS: readonly Column<Feature>[] = [
  { header: 'Feature', sort: 'name', cell: ({ name }) => <bdi>{name}</bdi> },
  { header: 'Type', sort: 'type', cell: ({ type }) => formatWord(type) },
  {
    header: 'Meter',
    cell: ({ meter, meter_id }) => <bdi>{meter?.name ?? (meter_id || '–')}</bdi>,
  },
  { header: 'Lookup key', wideOnly: true, cell: ({ lookup_key }) => <code>{lookup_key}</code> },
  {
    header: 'Created',
    sort: 'created_at',
    wideOnly: true,
    cell: ({ created_at }) => <Day at={created_at} />,
  },
];

const FEATURES = listOf({
  name: 'features',
  title: 'Features',
  description: 'Parts of your product that plans include.',
  filters: [
    text('q', 'Search by name'),
    choice(
      'type',
      'Type',
      FEATURE_TYPES.map((word) => [word, formatWord(word)] as const),
    ),
  ],
  search: (paging, { q, type }, signal) =>
    answerOf(
      api.POST('/features/search', {
        body: {
          ...paging,
          expand: ['meters'],
          ...given({ name_contains: q, type: type as Feature['type'] | '' }),
        },
        signal,
      }),
    ),
  columns: COLUMNS,
  file: [
    ['feature', ({ name }) => name],
    ['type', ({ type }) => type],
    ['meter', ({ meter }) => meter?.name ?? null],
    ['lookup_key', (row) => row.lookup_key],
    ['created', (row) => row.created_at],
    ['id', ({ id }) => id],
  ],
  rowTo: ({ id }) => `/features/${id}`,
  unmatched: { title: 'No feature matches' },
});

/** Every feature: what plans and addons grant to their subscribers. */
export function View() {
  const create = (
    <Allowed to="feature:write">
      <ButtonLink to="/features/new" tone="primary" icon={<Plus size={14} aria-hidden />}>
        New feature
      </ButtonLink>
    </Allowed>
  );
  return (
    <ListPage
      list={FEATURES}
      actions={create}
      empty={
        <EmptyState title="No features yet" action={create}>
          A feature is metered with an included quantity, on or off, or a text value. Plans include
          features as entitlements.
        </EmptyState>
      }
    />
  );
}
