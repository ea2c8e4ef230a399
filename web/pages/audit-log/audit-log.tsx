import { useState } from 'react';
import { AUDIT_ACTIONS, AUDITED_TYPES } from '../../../schemas/audit-words.ts';
import { choice, given, text } from '../../app/list/filters.tsx';
import type { FileColumn } from '../../app/list/list-file.tsx';
import { ListPage } from '../../app/list/list-page.tsx';
import { PersonName, personNames } from '../../app/person-name.tsx';
import { useMay } from '../../app/person.tsx';
import { jobInWords, recordInWords } from '../../app/record-words.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CodeBlock, Id } from '../../ui/code-block.tsx';
import { Narrow, type Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Section, Stack } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { capitalized, formatWord } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { VerifyChain } from './chain.tsx';

type Entry = ApiRecord<'AuditLog'> & { readonly author: string };

type Action = (typeof AUDIT_ACTIONS)[number];

/** Value and words of each, in the order of the words. */
const inOrder = (words: readonly (readonly [string, string])[]) =>
  [...words].sort(([, a], [, b]) => a.localeCompare(b));

const FILTERS = [
  text('entity_id', 'Record id'),
  choice(
    'entity_type',
    'Record type',
    inOrder(AUDITED_TYPES.map((type) => [type, recordInWords(type)] as const)),
  ),
  text('request_id', 'Request id'),
  choice(
    'action',
    'Action',
    AUDIT_ACTIONS.map((action) => [action, formatWord(action)] as const),
  ),
];

type Filters = Readonly<Record<(typeof FILTERS)[number]['key'], string>>;

/** The names of authors come with the rows: later they would move the columns. */
async function searched(
  { limit, offset }: { readonly limit: number; readonly offset: number },
  filters: Filters,
  mayReadPeople: boolean,
  signal: AbortSignal,
) {
  const action = filters.action as Action | '';
  const query = { limit, offset, ...given({ ...filters, action }) };
  const page = await answerOf(api.GET('/audit-logs', { params: { query }, signal }));
  const ids = page.items.flatMap(({ user_id }) => (user_id === null ? [] : [user_id]));
  const names = await personNames(mayReadPeople ? ids : [], signal);
  return { ...page, items: page.items.map((row) => ({ ...row, author: authorOf(row, names) })) };
}

const columnsOf = (show: (entry: Entry) => void): readonly Column<Entry>[] => [
  { header: 'Time', cell: ({ created_at }) => <Time at={created_at} seconds /> },
  {
    header: 'Change',
    cell: ({ entity_type, action, author }) => (
      <>
        {recordInWords(entity_type)} <Badge>{formatWord(action)}</Badge>
        <Narrow>
          <bdi>{author}</bdi>
        </Narrow>
      </>
    ),
  },
  { header: 'Id', wideOnly: true, cell: ({ entity_id }) => <code>{entity_id}</code> },
  { header: 'By', wideOnly: true, cell: ({ author }) => <bdi>{author}</bdi> },
  {
    header: 'Actions',
    align: 'end',
    cell: (entry) => (
      <Button
        small
        aria-label={`Show ${entry.action} ${entry.entity_type} ${entry.entity_id}`}
        onPress={() => show(entry)}
      >
        Show
      </Button>
    ),
  },
];

const FILE: readonly FileColumn<Entry>[] = [
  ['time', (row) => row.created_at],
  ['record_type', (row) => row.entity_type],
  ['action', ({ action }) => action],
  ['record_id', (row) => row.entity_id],
  ['by', ({ author }) => author],
  ['key_id', (row) => row.key_id],
  ['request_id', (row) => row.request_id],
  ['ip', ({ ip }) => ip],
  ['before', ({ before }) => (before === null ? null : JSON.stringify(before))],
  ['after', ({ after }) => (after === null ? null : JSON.stringify(after))],
  ['id', ({ id }) => id],
];

/** Every change with its author. Rows are only added, and each is chained to the one before by a hash. */
export function View() {
  const mayReadPeople = useMay('user:read');
  const [shown, setShown] = useState<Entry | null>(null);
  return (
    <ListPage
      list={{
        name: 'audit-log',
        title: 'Audit log',
        label: 'Changes',
        description:
          'Every change and who made it. Rows are only added; a chain of hashes shows if one is changed later.',
        filters: FILTERS,
        search: (paging, filters, signal) => searched(paging, filters, mayReadPeople, signal),
        columns: columnsOf(setShown),
        file: FILE,
        unmatched: { title: 'No change matches', advice: null },
      }}
      actions={<VerifyChain />}
      empty={<EmptyState title="No change yet" />}
    >
      <Dialog
        title={shown === null ? '' : titleOf(shown)}
        isOpen={shown !== null}
        onClose={() => setShown(null)}
        isWide
      >
        {shown === null ? null : <Details entry={shown} />}
      </Dialog>
    </ListPage>
  );
}

const titleOf = ({ entity_type, action }: Entry): string =>
  `${recordInWords(entity_type)}: ${formatWord(action).toLowerCase()}`;

const authorOf = (
  { user_id, job, actor_kind }: ApiRecord<'AuditLog'>,
  names: ReadonlyMap<string, string>,
): string =>
  user_id !== null
    ? (names.get(user_id) ?? user_id)
    : job !== null
      ? capitalized(jobInWords(job))
      : actor_kind === 'public'
        ? 'Not signed in'
        : formatWord(actor_kind);

function Author({ of: { user_id, author } }: { readonly of: Entry }) {
  return user_id === null ? <>{author}</> : <PersonName id={user_id} />;
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
