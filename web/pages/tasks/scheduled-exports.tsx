import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { EXPORTED, INTERVALS, placeOf } from '../../app/exports/export-words.ts';
import { Allowed, useMay } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Badge, Status } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { PlainTable, type Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Section } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { Time } from '../../ui/time.tsx';
import { NewScheduledExport } from './new-scheduled-export.tsx';

const SHOWN = 1000;

/** The newest runs of all exports, read with one request. */
const RUNS_READ = 1000;

type RunStatus = ApiRecord<'Workflow'>['status'];

interface Row extends ApiRecord<'ScheduledTask'> {
  /** Undefined: no run is among the newest ones, or the person may not read runs. */
  readonly lastRun: RunStatus | undefined;
}

const COLUMNS: readonly Column<Row>[] = [
  { header: 'Export', cell: ({ entity_type }) => EXPORTED[entity_type] },
  { header: 'Schedule', cell: ({ interval }) => INTERVALS[interval] },
  {
    header: 'Status',
    cell: ({ enabled }) => (
      <Badge tone={enabled ? 'positive' : 'neutral'}>{enabled ? 'On' : 'Off'}</Badge>
    ),
  },
  {
    header: 'Last run',
    cell: ({ lastRun }) => <Status word={lastRun ?? null} />,
  },
  { header: 'To', wideOnly: true, cell: (task) => <bdi>{placeOf(task)}</bdi> },
  { header: 'Created', wideOnly: true, cell: ({ created_at }) => <Time at={created_at} /> },
];

/** Exports into a bucket that run by themselves. Each has a page with its runs. */
export function ScheduledExports() {
  const [isAdding, setAdding] = useState(false);
  const mayReadRuns = useMay('workflow:read');
  const query = useQuery({
    queryKey: ['scheduled-tasks'],
    queryFn: async ({ signal }) => {
      const params = { query: { limit: SHOWN } };
      // Together: statuses that came after the rows would move the columns.
      const [{ items }, lastRuns] = await Promise.all([
        answerOf(api.GET('/tasks/scheduled', { params, signal })),
        mayReadRuns ? lastRunsOf(signal) : null,
      ]);
      return { items: items.map((task): Row => ({ ...task, lastRun: lastRuns?.get(task.id) })) };
    },
  });
  const add = (
    <Allowed to="task:write">
      <Button onPress={() => setAdding(true)}>New scheduled export</Button>
    </Allowed>
  );
  return (
    <Section
      title="Scheduled exports"
      actions={query.data === undefined || query.data.items.length === 0 ? null : add}
    >
      <Loaded query={query} what="scheduled exports">
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title="No scheduled export yet" action={add}>
              It writes new events, invoices, credits or usage into your bucket, again and again.
            </EmptyState>
          ) : (
            <PlainTable
              label="List of scheduled exports"
              columns={COLUMNS}
              rows={items}
              rowTo={({ id }) => `/scheduled-exports/${id}`}
            />
          )
        }
      </Loaded>
      <Dialog title="New scheduled export" isOpen={isAdding} onClose={() => setAdding(false)}>
        <NewScheduledExport />
      </Dialog>
    </Section>
  );
}

/** How the last run of each export went, by its id; without exports that are not among the newest runs. */
async function lastRunsOf(signal: AbortSignal): Promise<ReadonlyMap<string, RunStatus>> {
  const body = { entity: 'scheduled_task', limit: RUNS_READ };
  const { items } = await answerOf(api.POST('/workflows/search', { body, signal }));
  // The newest run comes first in the answer, so it must be the last one here.
  return new Map(items.toReversed().map(({ entity_id, status }) => [entity_id, status]));
}
