import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { PersonName, personNames } from '../../app/person-name.tsx';
import { useMay } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CodeBlock, Id } from '../../ui/code-block.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { ClearFilters, ChoiceFilter, FilterBar, SearchFilter } from '../../ui/filter-bar.tsx';
import { useListState } from '../../ui/list-state.ts';
import { Page, Section, Stack } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { VerifyChain } from './chain.tsx';

type Entry = ApiRecord<'AuditLog'>;

const FILTERS = { entity_id: '', entity_type: '', request_id: '', action: '' };

const ACTIONS = [
  'created', 'updated', 'deleted', 'logged_in', 'login_failed', 'locked_out', 'logged_out',
  'session_ended', 'refresh_reused', 'password_changed', 'password_reset',
] as const; // prettier-ignore

/** Every change with its author. Rows are only added, and each is chained to the one before by a hash. */
export function View() {
  const list = useListState(FILTERS);
  const mayReadPeople = useMay('user:read');
  const [shown, setShown] = useState<Entry | null>(null);
  const query = {
    limit: list.paging.limit,
    offset: list.paging.offset,
    ...Object.fromEntries(Object.entries(list.filters).filter(([, value]) => value !== '')),
  };
  const entries = useQuery({
    queryKey: ['audit-log', query, mayReadPeople],
    // The names come with the rows: later they would move the columns.
    queryFn: async ({ signal }) => {
      const page = await answerOf(api.GET('/audit-logs', { params: { query }, signal }));
      const ids = page.items.flatMap(({ user_id }) => (user_id === null ? [] : [user_id]));
      return { ...page, names: await personNames(mayReadPeople ? ids : [], signal) };
    },
    placeholderData: keepPreviousData,
  });
  const columns: readonly Column<Entry>[] = [
    { header: 'Time', cell: ({ created_at }) => <Time at={created_at} seconds /> },
    {
      header: 'Change',
      cell: ({ entity_type, action }) => (
        <>
          {formatWord(entity_type)} <Badge>{formatWord(action)}</Badge>
        </>
      ),
    },
    { header: 'Id', wideOnly: true, cell: ({ entity_id }) => <code>{entity_id}</code> },
    { header: 'By', cell: (entry) => <bdi>{authorOf(entry, entries.data?.names)}</bdi> },
    {
      header: 'Details',
      cell: (entry) => (
        <Button
          small
          aria-label={`Show ${entry.action} ${entry.entity_type} ${entry.entity_id}`}
          onPress={() => setShown(entry)}
        >
          Show
        </Button>
      ),
    },
  ];
  return (
    <Page
      title="Audit log"
      description="Every change and who made it. Rows are only added; a chain of hashes shows if one is changed later."
      actions={<VerifyChain />}
    >
      <FilterBar>
        <SearchFilter
          label="Record id"
          value={list.filters.entity_id}
          onChange={(entity_id) => list.setFilters({ entity_id })}
        />
        <SearchFilter
          label="Record type, for example invoice"
          value={list.filters.entity_type}
          onChange={(entity_type) => list.setFilters({ entity_type })}
        />
        <SearchFilter
          label="Request id"
          value={list.filters.request_id}
          onChange={(request_id) => list.setFilters({ request_id })}
        />
        <ChoiceFilter
          label="Action"
          value={list.filters.action}
          choices={ACTIONS.map((action) => [action, formatWord(action)])}
          onChange={(action) => list.setFilters({ action })}
        />
        {list.isFiltered ? <ClearFilters onPress={() => list.setFilters(FILTERS)} /> : null}
      </FilterBar>
      <DataTable
        label="Changes"
        columns={columns}
        query={entries}
        list={list}
        empty={<EmptyState title={list.isFiltered ? 'No change matches' : 'No change yet'} />}
      />
      <Dialog
        title={shown === null ? '' : titleOf(shown)}
        isOpen={shown !== null}
        onClose={() => setShown(null)}
        isWide
      >
        {shown === null ? null : <Details entry={shown} />}
      </Dialog>
    </Page>
  );
}

const titleOf = ({ entity_type, action }: Entry): string =>
  `${formatWord(entity_type)}: ${formatWord(action).toLowerCase()}`;

const authorOf = (
  { user_id, job, actor_kind }: Entry,
  names: ReadonlyMap<string, string> | undefined,
): string =>
  user_id !== null
    ? (names?.get(user_id) ?? user_id)
    : job !== null
      ? `The job ${job}`
      : formatWord(actor_kind);

function Author({ of: { user_id, job, actor_kind } }: { readonly of: Entry }) {
  return user_id === null ? <code>{job ?? actor_kind}</code> : <PersonName id={user_id} />;
}

function Details({ entry }: { readonly entry: Entry }) {
  return (
    <Stack>
      <Facts
        of={[
          ['Record', <code key="id">{entry.entity_id}</code>],
          ['By', <Author key="by" of={entry} />],
          ['API key', entry.key_id],
          [
            'Request',
            entry.request_id === null ? null : <Id key="request" of={entry.request_id} />,
          ],
          ['IP address', entry.ip],
          ['Time', <Time key="at" at={entry.created_at} seconds />],
        ]}
      />
      {entry.before === null ? null : (
        <Section title="Before">
          <CodeBlock label="Before" text={JSON.stringify(entry.before, null, 2)} />
        </Section>
      )}
      {entry.after === null ? null : (
        <Section title="After">
          <CodeBlock label="After" text={JSON.stringify(entry.after, null, 2)} />
        </Section>
      )}
    </Stack>
  );
}
