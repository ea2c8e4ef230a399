import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Badge, Status } from '../../ui/badge.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { ChoiceFilter, FilterBar } from '../../ui/filter-bar.tsx';
import { useListState } from '../../ui/list-state.ts';
import { Page, Section } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';

type Task = ApiRecord<'Task'>;
type Scheduled = ApiRecord<'ScheduledTask'>;

const FILTERS = { task_status: '' };
const STATUSES = ['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED'] as const;

/** How often running tasks are looked at. */
const LOOK_MS = 2_000;

const COLUMNS: readonly Column<Task>[] = [
  {
    header: 'Task',
    cell: ({ task_type, entity_type }) => formatWord(`${task_type} ${entity_type}`),
  },
  { header: 'File', wideOnly: true, cell: ({ file_name }) => file_name || '–' },
  { header: 'Status', cell: ({ task_status }) => <Status word={task_status} /> },
  {
    header: 'Progress',
    cell: ({ processed_records, total_records }) => (
      <Progress label="Rows" done={processed_records} of={total_records ?? processed_records} />
    ),
  },
  {
    header: 'Refused rows',
    align: 'end',
    cell: ({ failed_records }) =>
      failed_records === 0 ? '0' : <Badge tone="negative">{failed_records}</Badge>,
  },
  { header: 'Created', wideOnly: true, cell: ({ created_at }) => <Time at={created_at} /> },
];

const SCHEDULED: readonly Column<Scheduled>[] = [
  { header: 'Export', cell: ({ entity_type }) => formatWord(entity_type) },
  { header: 'Every', cell: ({ interval }) => formatWord(interval) },
  {
    header: 'State',
    cell: ({ enabled }) => (
      <Badge tone={enabled ? 'positive' : 'neutral'}>{enabled ? 'On' : 'Off'}</Badge>
    ),
  },
  { header: 'Bucket', wideOnly: true, cell: ({ job_config }) => job_config.bucket },
  { header: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
];

/** Imports with their progress, and exports on a schedule. */
export function View() {
  const list = useListState(FILTERS);
  const { task_status } = list.filters;
  const body = {
    ...list.paging,
    ...(task_status === '' ? {} : { task_status: task_status as 'PENDING' }),
  };
  const tasks = useQuery({
    queryKey: ['tasks', body],
    queryFn: ({ signal }) => answerOf(api.POST('/tasks/search', { body, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.items.some(({ task_status: now }) => now === 'PENDING' || now === 'PROCESSING')
        ? LOOK_MS
        : false,
  });
  const scheduled = useQuery({
    queryKey: ['scheduled-tasks'],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/tasks/scheduled', { params: { query: { limit: 100 } }, signal })),
  });
  return (
    <Page
      title="Imports and exports"
      description="Files of events, and exports to your own storage."
    >
      <Section title="Imports">
        <FilterBar>
          <ChoiceFilter
            label="Status"
            value={task_status}
            choices={STATUSES.map((word) => [word, formatWord(word)])}
            onChange={(word) => list.setFilters({ task_status: word })}
          />
        </FilterBar>
        <DataTable
          label="Imports, newest first"
          columns={COLUMNS}
          query={tasks}
          list={list}
          empty={
            <EmptyState title={task_status === '' ? 'No import yet' : 'No import with this status'}>
              Send a file of events to <code>POST /v1/tasks/uploads</code>, then begin its import
              with <code>POST /v1/tasks</code>. Each refused row is listed with its reason.
            </EmptyState>
          }
        />
      </Section>
      <Section title="Exports on a schedule">
        <DataTable
          label="Exports"
          columns={SCHEDULED}
          query={scheduled}
          empty={
            <EmptyState title="No export yet">
              Connect a bucket, then plan an export with <code>POST /v1/tasks/scheduled</code>.
            </EmptyState>
          }
        />
      </Section>
    </Page>
  );
}
