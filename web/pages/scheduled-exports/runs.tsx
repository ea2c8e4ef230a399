import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { useListState } from '../../ui/list-state.ts';
import { EmptyState } from '../../ui/query-state.tsx';
import { Time } from '../../ui/time.tsx';

type Workflow = ApiRecord<'Workflow'>;

/** A run, and what went wrong in it. */
interface Run extends Workflow {
  readonly id: string;
  readonly error: string | null;
}

/** How often runs are read while one is running. */
const LOOK_MS = 2_000;

const COLUMNS: readonly Column<Run>[] = [
  { header: 'Started', cell: ({ start_time }) => <Time at={start_time} seconds /> },
  { header: 'Ended', wideOnly: true, cell: ({ close_time }) => <Time at={close_time} seconds /> },
  { header: 'Outcome', cell: ({ status }) => <Status word={status} /> },
  { header: 'Reason', cell: ({ error }) => error ?? '–' },
];

/** The runs of a scheduled export, newest first, each with its outcome and the reason of a failure. */
export function Runs({ taskId }: { readonly taskId: string }) {
  const list = useListState({});
  const { limit, offset } = list.paging;
  const runs = useQuery({
    queryKey: ['scheduled-tasks', taskId, 'runs', limit, offset],
    queryFn: async ({ signal }) => {
      const page = await answerOf(
        api.POST('/workflows/search', {
          body: { entity: 'scheduled_task', entity_id: taskId, limit, offset },
          signal,
        }),
      );
      const reasons = await reasonsOf(page.items, signal);
      const items = page.items.map((run) => ({
        ...run,
        id: run.workflow_id,
        error: reasons.get(run.workflow_id) ?? null,
      }));
      return { ...page, items };
    },
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.items.some(({ status }) => status === 'Running') ? LOOK_MS : false,
  });
  return (
    <DataTable
      label="Runs, newest first"
      columns={COLUMNS}
      query={runs}
      list={list}
      empty={
        <EmptyState title="No run yet">
          The first run follows the end of the running window. “Run now” does not wait for it.
        </EmptyState>
      }
    />
  );
}

/** Why runs failed, by id. */
async function reasonsOf(
  runs: readonly Workflow[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string | null>> {
  const failed = runs.filter(({ status }) => status === 'Failed');
  if (failed.length === 0) return new Map();
  const body = {
    workflows: failed.map(({ workflow_id, run_id }) => ({ workflow_id, run_id })),
  };
  const { workflows } = await answerOf(api.POST('/workflows/batch', { body, signal }));
  return new Map(workflows.map(({ workflow_id, metadata }) => [workflow_id, metadata.error]));
}
