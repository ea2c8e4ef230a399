import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { CopyButton } from '../../ui/code-block.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { ChoiceFilter, ClearFilters, FilterBar, SearchFilter } from '../../ui/filter-bar.tsx';
import { useListState } from '../../ui/list-state.ts';
import { Page } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import styles from './request-log.module.css';

type Entry = ApiRecord<'RequestLogEntry'>;

/** Enough to compare by eye; the button copies the whole id. */
const SHOWN_CHARACTERS = 8;

const FILTERS = { request_id: '', path: '', outcome: '', idempotency: '' };

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
    cell: ({ method, path }) => (
      <code>
        {method} {path}
      </code>
    ),
  },
  { header: 'Error', cell: ({ error_code }) => error_code ?? '–' },
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
  { header: 'ms', sort: 'duration_ms', align: 'end', cell: ({ duration_ms }) => duration_ms },
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

/** Answered requests of the last seven days, found by their id. */
export function View() {
  const list = useListState(FILTERS);
  const { request_id, path, outcome, idempotency } = list.filters;
  const body = {
    ...list.paging,
    ...(request_id === '' ? {} : { request_id }),
    ...(outcome === '' ? {} : { failed: outcome === 'failed' }),
    ...(idempotency === '' ? {} : { idempotency: idempotency as 'first' }),
    ...(path === ''
      ? {}
      : { filters: [{ field: 'path', operator: 'contains' as const, value: { string: path } }] }),
  };
  const requests = useQuery({
    queryKey: ['request-log', body],
    queryFn: ({ signal }) => answerOf(api.POST('/request-logs/search', { body, signal })),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title="Request log"
      description="Answered requests of the last seven days, without their bodies."
    >
      <FilterBar>
        <SearchFilter
          label="Request id"
          value={request_id}
          onChange={(value) => list.setFilters({ request_id: value })}
        />
        <SearchFilter
          label="Path contains"
          value={path}
          onChange={(value) => list.setFilters({ path: value })}
        />
        <ChoiceFilter
          label="Outcome"
          value={outcome}
          choices={[
            ['failed', 'Refused or failed'],
            ['done', 'Succeeded'],
          ]}
          onChange={(value) => list.setFilters({ outcome: value })}
        />
        <ChoiceFilter
          label="Idempotency key"
          value={idempotency}
          choices={IDEMPOTENCY}
          onChange={(value) => list.setFilters({ idempotency: value })}
        />
        {list.isFiltered ? <ClearFilters onPress={() => list.setFilters(FILTERS)} /> : null}
      </FilterBar>
      <DataTable
        label="Requests"
        columns={COLUMNS}
        query={requests}
        list={list}
        empty={
          <EmptyState title={list.isFiltered ? 'No request matches' : 'No request yet'}>
            Every answer carries its id in the header <code>X-Request-ID</code>. Accepted events are
            not listed here; find them under Events.
          </EmptyState>
        }
      />
    </Page>
  );
}
