import { choice, contains, given, text } from '../../app/list/filters.tsx';
import { ListPage, listOf } from '../../app/list/list-page.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { CopyButton } from '../../ui/code-block.tsx';
import { Narrow, type Column } from '../../ui/data-table.tsx';
import { InParts } from '../../ui/in-parts.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import styles from './request-log.module.css';

type Entry = ApiRecord<'RequestLogEntry'>;

/** Enough to compare by eye; the button copies the whole id. */
const SHOWN_CHARACTERS = 8;

const IDEMPOTENCY: readonly (readonly [NonNullable<Entry['idempotency']>, string])[] = [
  ['first', 'First use'],
  ['replayed', 'Replayed'],
  ['refused', 'Refused'],
];

const toneOf = (status: number): Tone =>
  status >= 500 ? 'negative' : status >= 400 ? 'warning' : 'positive';

const COLUMNS: readonly Column<Entry>[] = [
  {
    header: 'Time',
    sort: 'created_at',
    cell: ({ created_at }) => <Time at={created_at} seconds />,
  },
  {
    header: 'Status',
    sort: 'status_code',
    cell: ({ status_code }) => <Badge tone={toneOf(status_code)}>{status_code}</Badge>,
  },
  {
    header: 'Request',
    cell: ({ method, path, error_code }) => (
      <>
        <code className={styles.request} title={`${method} ${path}`}>
          <span>{method} </span>
          <span className={styles.path}>
            <InParts text={path} />
          </span>
        </code>
        {error_code === null ? null : (
          <Narrow>
            <InParts text={error_code} />
          </Narrow>
        )}
      </>
    ),
  },
  {
    header: 'Error',
    wideOnly: true,
    cell: ({ error_code }) => (error_code === null ? '–' : <InParts text={error_code} />),
  },
  {
    header: 'Idempotency key',
    wideOnly: true,
    cell: ({ idempotency }) =>
      idempotency === null ? (
        '–'
      ) : (
        <Badge tone={idempotency === 'first' ? 'neutral' : 'info'}>
          {IDEMPOTENCY.find(([word]) => word === idempotency)?.[1]}
        </Badge>
      ),
  },
  {
    header: 'Duration, ms',
    sort: 'duration_ms',
    align: 'end',
    wideOnly: true,
    cell: ({ duration_ms }) => duration_ms,
  },
  {
    header: 'Caller',
    wideOnly: true,
    cell: ({ actor_kind, key_id }) => (key_id === null ? formatWord(actor_kind) : 'Key'),
  },
  {
    header: 'Request id',
    wideOnly: true,
    isWhole: true,
    cell: ({ request_id }) => (
      <span className={styles.id}>
        <code title={request_id}>{request_id.slice(0, SHOWN_CHARACTERS)}…</code>
        <CopyButton text={request_id} label={`Copy ${request_id}`} />
      </span>
    ),
  },
];

const REQUESTS = listOf({
  name: 'request-log',
  title: 'Request log',
  label: 'Requests',
  description: 'Answered requests of the last seven days, without their bodies.',
  filters: [
    text('request_id', 'Request id'),
    text('path', 'Path contains'),
    choice('outcome', 'Outcome', [
      ['failed', 'Refused or failed'],
      ['done', 'Succeeded'],
    ]),
    choice('idempotency', 'Idempotency key', IDEMPOTENCY),
  ],
  search: (paging, { request_id, path, outcome, idempotency }, signal) =>
    answerOf(
      api.POST('/request-logs/search', {
        body: {
          ...paging,
          ...given({
            request_id,
            idempotency: idempotency as NonNullable<Entry['idempotency']> | '',
            failed: outcome === '' ? '' : outcome === 'failed',
          }),
          filters: contains('path', path),
        },
        signal,
      }),
    ),
  columns: COLUMNS,
  file: [
    ['time', (row) => row.created_at],
    ['status', (row) => String(row.status_code)],
    ['method', ({ method }) => method],
    ['path', ({ path }) => path],
    ['error', (row) => row.error_code],
    ['idempotency', ({ idempotency }) => idempotency],
    ['ms', (row) => String(row.duration_ms)],
    ['caller', (row) => row.actor_kind],
    ['key_id', (row) => row.key_id],
    ['request_id', (row) => row.request_id],
    ['id', ({ id }) => id],
  ],
  unmatched: { title: 'No request matches', advice: <Advice /> },
});

function Advice() {
  return (
    <>
      Every answer carries its id in the header <code>X-Request-ID</code>. Accepted events are not
      listed here; find them under Events.
    </>
  );
}

/** Answered requests of the last seven days, found by their id. */
export const View = () => (
  <ListPage
    list={REQUESTS}
    empty={
      <EmptyState title="No request yet">
        <Advice />
      </EmptyState>
    }
  />
);
