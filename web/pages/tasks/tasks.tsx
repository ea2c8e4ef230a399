import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Download, Upload } from 'lucide-react';
import { useState } from 'react';
import { ListFile, type FileColumn } from '../../app/list/list-file.tsx';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { download } from '../../client/download.ts';
import { Badge, Status } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ChoiceFilter, FilterBar } from '../../ui/filter-bar.tsx';
import { useListState } from '../../ui/list-state.ts';
import { Page, Row, Section } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { EmptyState, Failure } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { ExportForm } from './export-form.tsx';
import { ImportForm } from './import-form.tsx';
import { ScheduledExports } from './scheduled-exports.tsx';

type Task = ApiRecord<'Task'>;

const FILTERS = { task_status: '' };
const STATUSES = ['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED'] as const;

/** How often running tasks are read. */
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
    header: 'Failed rows',
    align: 'end',
    cell: ({ failed_records }) =>
      failed_records === 0 ? '0' : <Badge tone="negative">{failed_records}</Badge>,
  },
  { header: 'Created', wideOnly: true, cell: ({ created_at }) => <Time at={created_at} /> },
  { header: 'Actions', align: 'end', cell: (task) => <TaskActions of={task} /> },
];

const FILE: readonly FileColumn<Task>[] = [
  ['task', ({ task_type, entity_type }) => `${task_type} ${entity_type}`],
  ['file', (row) => row.file_name],
  ['status', (row) => row.task_status],
  ['rows', (row) => String(row.processed_records)],
  ['failed_rows', (row) => String(row.failed_records)],
  ['created', (row) => row.created_at],
  ['id', ({ id }) => id],
];

/** Imports with their progress, exports as files, and exports on a schedule. */
export function View() {
  const list = useListState(FILTERS);
  const cache = useQueryClient();
  const [open, setOpen] = useState<'import' | 'export' | null>(null);
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
  const importing = (
    <Allowed to="task:write">
      <Button
        tone="primary"
        icon={<Upload size={14} aria-hidden />}
        onPress={() => setOpen('import')}
      >
        Import events
      </Button>
    </Allowed>
  );
  return (
    <Page
      title="Imports and exports"
      description="Import events from files. Export events and usage."
      actions={
        <>
          <Allowed to="event:read">
            <Button icon={<Download size={14} aria-hidden />} onPress={() => setOpen('export')}>
              Export
            </Button>
          </Allowed>
          {importing}
        </>
      }
    >
      <Dialog title="Import events" isOpen={open === 'import'} onClose={() => setOpen(null)}>
        <ImportForm
          onDone={async () => {
            await cache.invalidateQueries({ queryKey: ['tasks'] });
            setOpen(null);
          }}
        />
      </Dialog>
      <Dialog title="Export" isOpen={open === 'export'} onClose={() => setOpen(null)}>
        <ExportForm onDone={() => setOpen(null)} />
      </Dialog>
      <Section
        title="Imports"
        actions={
          <Row>
            <ListFile
              name="imports"
              columns={FILE}
              page={(paging, signal) =>
                answerOf(api.POST('/tasks/search', { body: { ...body, ...paging }, signal }))
              }
            />
          </Row>
        }
      >
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
            <EmptyState
              title={task_status === '' ? 'No import yet' : 'No import with this status'}
              action={importing}
            >
              A file of events is checked row by row; each refused row is listed with its reason. A
              program sends it to <code>POST /v1/tasks/uploads</code>.
            </EmptyState>
          }
        />
      </Section>
      <ScheduledExports />
    </Page>
  );
}

/** The actions on a task: stop it, resume it, see the outcome of each row. */
function TaskActions({ of: task }: { readonly of: Task }) {
  const cache = useQueryClient();
  const turn = useMutation({
    mutationFn: (task_status: 'FAILED' | 'PROCESSING') =>
      answerOf(
        api.PUT('/tasks/{id}/status', { params: { path: { id: task.id } }, body: { task_status } }),
      ),
    onSuccess: () => cache.invalidateQueries({ queryKey: ['tasks'] }),
  });
  const save = useMutation({
    mutationFn: () => download(`/tasks/${task.id}/results`, `results-of-${task.id}.csv`),
  });
  const failure = turn.error ?? save.error;
  const name = task.file_name ?? 'the task';
  const isRunning = task.task_status === 'PENDING' || task.task_status === 'PROCESSING';
  const isHalfDone = task.task_status === 'FAILED' && task.processed_records < task.total_records;
  return (
    <Row>
      {failure === null ? null : <Failure error={failure} />}
      {task.entity_type === 'EVENTS' && task.processed_records > 0 ? (
        <Button small aria-label={`Results of ${name}`} onPress={() => save.mutate()}>
          Results
        </Button>
      ) : null}
      <Allowed to="task:write">
        {isRunning ? (
          <Button small aria-label={`Stop ${name}`} onPress={() => turn.mutate('FAILED')}>
            Stop
          </Button>
        ) : null}
        {isHalfDone ? (
          <Button small aria-label={`Resume ${name}`} onPress={() => turn.mutate('PROCESSING')}>
            Resume
          </Button>
        ) : null}
      </Allowed>
    </Row>
  );
}
