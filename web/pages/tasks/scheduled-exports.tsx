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

interface Row extends ApiRecord<'ScheduledTask'> {
  /** Null: it has not run yet; undefined: the person may not read runs. */
  readonly lastRun: ApiRecord<'Workflow'>['status'] | null | undefined;
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
    cell: ({ lastRun }) => (lastRun === null ? 'None yet' : <Status word={lastRun ?? null} />),
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
      const { items } = await answerOf(api.GET('/tasks/scheduled', { params, signal }));
      // They come with the rows: later they would move the columns.
      const runs = mayReadRuns
        ? await Promise.all(items.map(({ id }) => lastRunOf(id, signal)))
        : [];
      return { items: items.map((task, index): Row => ({ ...task, lastRun: runs[index] })) };
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

/** How the newest run of an export went; null before the first. */
async function lastRunOf(
  id: string,
  signal: AbortSignal,
): Promise<ApiRecord<'Workflow'>['status'] | null> {
  const body = { entity: 'scheduled_task', entity_id: id, limit: 1 };
  const { items } = await answerOf(api.POST('/workflows/search', { body, signal }));
  return items[0]?.status ?? null;
}
