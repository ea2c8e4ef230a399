import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Card, Row, Section, Stack } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { Failure, Loaded } from '../../ui/query-state.tsx';
import { notify } from '../../ui/toasts.tsx';
import { useUrlState } from '../../ui/url-state.ts';

/** How often a running sync is read. */
const LOOK_MS = 1_000;

const STATE = { sync: '' };

/** Subscriptions keep their original prices until the current prices of the plan are applied to them. */
export function PriceSync({ plan }: { readonly plan: ApiRecord<'Plan'> }) {
  const [{ sync }, setState] = useUrlState(STATE);
  const [isAsking, setAsking] = useState(false);
  const behind = plan.price_sync_status?.unsynced_subscription_count ?? 0;
  if (behind === 0 && sync === '') return null;
  return (
    <Section title="Subscriptions of the plan">
      <Card>
        <Stack>
          {sync === '' ? (
            <>
              <p>
                {behind === 1 ? '1 subscription has' : `${behind} subscriptions have`} older prices
                than the plan.
              </p>
              <Allowed to="plan:write">
                <Row>
                  <Button onPress={() => setAsking(true)}>Update prices</Button>
                </Row>
              </Allowed>
            </>
          ) : (
            <Running taskId={sync} onClose={() => setState({ sync: '' })} />
          )}
        </Stack>
      </Card>
      <ConfirmDialog
        title="Update the prices of these subscriptions?"
        confirm="Update prices"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={async () => {
          const { workflow_id } = await answerOf(
            api.POST('/plans/{id}/sync/subscriptions', { params: { path: { id: plan.id } } }),
          );
          setState({ sync: workflow_id });
        }}
      >
        <p>
          {behind === 1 ? '1 subscription gets' : `${behind} subscriptions get`} the current prices
          of the plan, each from its start date, in every period that is not invoiced yet. Issued
          invoices do not change; fees in advance change with the next period.
        </p>
      </ConfirmDialog>
    </Section>
  );
}

function Running({ taskId, onClose }: { readonly taskId: string; readonly onClose: () => void }) {
  const queries = useQueryClient();
  const task = useQuery({
    queryKey: ['task', taskId],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/tasks/{id}', { params: { path: { id: taskId } }, signal })),
    refetchInterval: ({ state }) => (isOpen(state.data?.task_status) ? LOOK_MS : false),
  });
  const stop = useMutation({
    mutationFn: () =>
      answerOf(
        api.PUT('/tasks/{id}/status', {
          params: { path: { id: taskId } },
          body: { task_status: 'FAILED' },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ['task', taskId] }),
  });
  const status = task.data?.task_status;
  useEffect(() => {
    if (status === 'COMPLETED') notify('The subscriptions have the current prices');
    if (status !== undefined && !isOpen(status))
      void queries.invalidateQueries({ queryKey: ['plan'] });
  }, [status, queries]);
  return (
    <Loaded query={task} what="the progress">
      {(found) => (
        <Stack>
          <Progress
            label="Updated subscriptions"
            done={found.processed_records}
            of={found.total_records ?? found.processed_records}
          />
          <Row>
            <Status word={found.task_status} />
            {found.failed_records === 0 ? null : <span>{refusedText(found.failed_records)}</span>}
          </Row>
          {isOpen(found.task_status) ? (
            <>
              <p>You can leave this page; the update continues.</p>
              <Allowed to="task:write">
                <Row>
                  <Button small isDisabled={stop.isPending} onPress={() => stop.mutate()}>
                    Stop
                  </Button>
                </Row>
              </Allowed>
              {stop.error === null ? null : <Failure error={stop.error} />}
            </>
          ) : (
            <>
              {found.error_summary === null ? null : <p>{found.error_summary}</p>}
              <Row>
                <Button small onPress={onClose}>
                  Close
                </Button>
              </Row>
            </>
          )}
        </Stack>
      )}
    </Loaded>
  );
}

const isOpen = (status: string | undefined): boolean =>
  status === 'PENDING' || status === 'PROCESSING';

const refusedText = (count: number): string =>
  count === 1
    ? '1 subscription failed and keeps its prices.'
    : `${count} subscriptions failed and keep their prices.`;
