import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import * as z from 'zod';
import { ListPage, listOf } from '../../app/list/list-page.tsx';
import { Allowed, useSignedIn } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';

type TestClock = ApiRecord<'TestClock'>;

const COLUMNS: readonly Column<TestClock>[] = [
  { header: 'Name', cell: ({ name }) => <bdi>{name ?? 'Test clock'}</bdi> },
  { header: 'Time', cell: ({ now }) => <Time at={now} /> },
  { header: 'Status', cell: ({ status }) => <Status word={status} /> },
  { header: 'Created', wideOnly: true, cell: ({ created_at }) => <Time at={created_at} /> },
];

const CLOCKS = listOf({
  name: 'test-clocks',
  title: 'Test clocks',
  description: 'Simulate months of billing in seconds.',
  filters: [],
  search: (paging, _filters, signal) =>
    answerOf(api.POST('/test-clocks/search', { body: { ...paging }, signal })),
  columns: COLUMNS,
  file: [
    ['name', ({ name }) => name],
    ['time', ({ now }) => now],
    ['status', ({ status }) => status],
    ['created', (row) => row.created_at],
    ['id', ({ id }) => id],
  ],
  rowTo: ({ id }) => `/test-clocks/${id}`,
  unmatched: { title: 'No test clock matches' },
});

/** Clocks of a test environment: each owns customers, and moves only when it is advanced. */
export function View() {
  const { environment } = useSignedIn();
  const isLive = environment.type === 'production';
  const [isCreating, setCreating] = useState(false);
  const create = isLive ? undefined : (
    <Allowed to="testclock:write">
      <Button
        tone="primary"
        icon={<Plus size={14} aria-hidden />}
        onPress={() => setCreating(true)}
      >
        New test clock
      </Button>
    </Allowed>
  );
  return (
    <ListPage
      list={CLOCKS}
      actions={create}
      empty={
        isLive ? (
          <EmptyState title="Live environments have no test clocks">
            Choose a test environment in the menu.
          </EmptyState>
        ) : (
          <EmptyState title="No test clock yet" action={create}>
            Customers of a test clock follow its time. When you advance it, their periods close,
            their invoices are issued and their credits expire.
          </EmptyState>
        )
      }
    >
      <Dialog title="New test clock" isOpen={isCreating} onClose={() => setCreating(false)}>
        <NewTestClock />
      </Dialog>
    </ListPage>
  );
}

const Body = z.object({ name: z.string().max(255), day: z.iso.date('choose a day') });

function NewTestClock() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [today] = useState(() => new Date().toISOString().slice(0, 10));
  const form = useApiForm(Body, { name: '', day: today });
  return (
    <Form
      form={form}
      submit="Create test clock"
      onSubmit={async ({ name, day }) => {
        const clock = await answerOf(
          api.POST('/test-clocks', {
            body: { now: `${day}T00:00:00Z`, ...(name === '' ? {} : { name }) },
          }),
        );
        notify('Test clock created');
        await queries.invalidateQueries({ queryKey: ['test-clocks'] });
        await navigate({ to: `/test-clocks/${clock.id}` });
      }}
    >
      <TextField control={form.control} name="name" label="Name" autoFocus />
      <TextField
        control={form.control}
        name="day"
        label="Start date"
        kind="date"
        hint="At midnight, UTC. It may be in the past."
        isRequired
      />
    </Form>
  );
}
