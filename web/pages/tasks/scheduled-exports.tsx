import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { EXPORTED, INTERVALS, placeOf } from '../../app/exports/export-words.ts';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { PlainTable, type Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Section } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { Time } from '../../ui/time.tsx';
import { NewScheduledExport } from './new-scheduled-export.tsx';

const SHOWN = 1000;

const COLUMNS: readonly Column<ApiRecord<'ScheduledTask'>>[] = [
  { header: 'Export', cell: ({ entity_type }) => EXPORTED[entity_type] },
  { header: 'Every', cell: ({ interval }) => INTERVALS[interval] },
  {
    header: 'Status',
    cell: ({ enabled }) => (
      <Badge tone={enabled ? 'positive' : 'neutral'}>{enabled ? 'On' : 'Off'}</Badge>
    ),
  },
  { header: 'To', wideOnly: true, cell: (task) => <bdi>{placeOf(task)}</bdi> },
  { header: 'Created', wideOnly: true, cell: ({ created_at }) => <Time at={created_at} /> },
];

/** Exports into a bucket that run by themselves. Each has a page with its runs. */
export function ScheduledExports() {
  const [isAdding, setAdding] = useState(false);
  const query = useQuery({
    queryKey: ['scheduled-tasks'],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/tasks/scheduled', { params: { query: { limit: SHOWN } }, signal })),
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
