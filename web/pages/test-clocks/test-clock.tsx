import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Allowed } from '../../app/person.tsx';
import { testClockQuery } from '../../app/test-clock-query.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Id } from '../../ui/code-block.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { useListState } from '../../ui/list-state.ts';
import { Card, Columns, Page, Section, Stack } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { formatTime } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { AdvanceForm } from './advance-form.tsx';

type TestClock = ApiRecord<'TestClock'>;

/** How often an advancing clock is read. */
const LOOK_MS = 500;
const DAY_MS = 86_400_000;

/** One clock: its time, the target of its advance, and its customers. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const query = useQuery({
    ...testClockQuery(id),
    refetchInterval: ({ state }) => (state.data?.status === 'advancing' ? LOOK_MS : false),
  });
  const queries = useQueryClient();
  const status = query.data?.status;
  // Data that the advance has changed is read again where it is shown.
  useEffect(() => {
    if (status === 'ready' || status === 'failed')
      void queries.invalidateQueries({
        predicate: ({ queryKey }) => queryKey[0] !== 'test-clocks',
      });
  }, [status, queries]);
  return (
    <Page
      title={<bdi>{query.data?.name ?? 'Test clock'}</bdi>}
      documentTitle={query.data?.name ?? 'Test clock'}
      crumbs={[{ label: 'Test clocks', to: '/test-clocks' }]}
      actions={query.data === undefined ? undefined : <Delete clock={query.data} />}
    >
      <Loaded query={query} what="the test clock">
        {(clock) => <Content clock={clock} />}
      </Loaded>
    </Page>
  );
}

function Content({ clock }: { readonly clock: TestClock }) {
  return (
    <Stack>
      <Columns>
        <Section title="Time">
          <Card>
            <Facts
              of={[
                ['Shows', <Time at={clock.now} />],
                ['Status', <Status word={clock.status} />],
                ['Failure', clock.error],
                ['Created', <Time at={clock.created_at} />],
                ['Id', <Id of={clock.id} />],
              ]}
            />
          </Card>
        </Section>
        <Section title="Advance">
          <Card>
            {clock.status === 'advancing' ? (
              <Advancing key={clock.advancing_to} clock={clock} />
            ) : clock.status === 'archived' ? (
              <p>This clock was deleted.</p>
            ) : (
              <Allowed to="testclock:write">
                <AdvanceForm key={clock.now} clock={clock} />
              </Allowed>
            )}
          </Card>
        </Section>
      </Columns>
      <Section title="Customers">
        <Customers clock={clock} />
      </Section>
    </Stack>
  );
}

/** Days of the clock that have passed since the page first saw the advance. */
function Advancing({ clock }: { readonly clock: TestClock }) {
  const [startMs] = useState(() => Date.parse(clock.now));
  const daysUntil = (at: string): number => Math.round((Date.parse(at) - startMs) / DAY_MS);
  const target = clock.advancing_to ?? clock.now;
  return (
    <Stack>
      <Progress
        label={`Days on the way to ${formatTime(target, 'UTC')}`}
        done={daysUntil(clock.now)}
        of={daysUntil(target)}
      />
      <p>You can leave this page; the clock continues.</p>
    </Stack>
  );
}

function Customers({ clock }: { readonly clock: TestClock }) {
  const list = useListState({});
  const { limit, offset } = list.paging;
  const query = useQuery({
    queryKey: ['customers-of-clock', clock.id, limit, offset],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/customers/search', {
          body: {
            limit,
            offset,
            filters: [
              { field: 'test_clock_id', operator: 'eq' as const, value: { string: clock.id } },
            ],
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
  const create =
    clock.status === 'archived' ? undefined : (
      <Allowed to="customer:write">
        <ButtonLink
          to="/customers/new"
          search={{ test_clock_id: clock.id } as never}
          icon={<Plus size={14} aria-hidden />}
        >
          New customer of this clock
        </ButtonLink>
      </Allowed>
    );
  return (
    <Stack>
      <DataTable
        label="Customers of the clock"
        query={query}
        list={list}
        rowTo={({ id }) => `/customers/${id}`}
        columns={[
          { header: 'Name', cell: ({ name }) => <bdi>{name}</bdi> },
          { header: 'External id', cell: ({ external_id }) => <code>{external_id}</code> },
          { header: 'Time zone', wideOnly: true, cell: ({ timezone }) => timezone },
        ]}
        empty={
          <EmptyState title="No customers yet" action={create}>
            Choose the test clock when you create a customer. It cannot be changed later.
          </EmptyState>
        }
      />
      {query.data === undefined || query.data.items.length === 0 ? null : <div>{create}</div>}
    </Stack>
  );
}

function Delete({ clock }: { readonly clock: TestClock }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  if (clock.status === 'archived') return null;
  return (
    <Allowed to="testclock:write">
      <Button tone="danger" onPress={() => setAsking(true)}>
        Delete
      </Button>
      <ConfirmDialog
        title="Delete this test clock?"
        confirm="Delete test clock"
        tone="danger"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={async () => {
          await answerOf(api.DELETE('/test-clocks/{id}', { params: { path: { id: clock.id } } }));
          notify('Test clock deleted');
          await queries.invalidateQueries();
          await navigate({ to: '/test-clocks' });
        }}
      >
        <p>Its customers are archived and their subscriptions cancelled.</p>
      </ConfirmDialog>
    </Allowed>
  );
}
