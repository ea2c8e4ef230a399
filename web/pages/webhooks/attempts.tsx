import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { DataTable, Narrow, type Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { FilterBar, SearchFilter } from '../../ui/filter-bar.tsx';
import { InParts } from '../../ui/in-parts.tsx';
import { useListState } from '../../ui/list-state.ts';
import { Row, Section, Stack } from '../../ui/page.tsx';
import { EmptyState, Failure } from '../../ui/query-state.tsx';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import styles from './attempts.module.css';
import { failureWords } from './failure-words.ts';

type Attempt = ApiRecord<'WebhookAttempt'>;

/** What was sent to the endpoint, and what it answered. */
export function Attempts({ id }: { readonly id: string }) {
  const list = useListState({ event_type: '' });
  const [shown, setShown] = useState<Attempt | null>(null);
  const { limit, offset } = list.paging;
  const { event_type } = list.filters;
  const query = { limit, offset, ...(event_type === '' ? {} : { event_type }) };
  const attempts = useQuery({
    queryKey: ['webhook-endpoints', id, 'attempts', query],
    queryFn: ({ signal }) =>
      answerOf(
        api.GET('/webhooks/endpoints/{id}/attempts', {
          params: { path: { id }, query },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
  const columns: readonly Column<Attempt>[] = [
    {
      header: 'Time',
      cell: ({ created_at, event_type: type }) => (
        <>
          <Time at={created_at} seconds />
          <Narrow>
            <EventType of={type} />
          </Narrow>
        </>
      ),
    },
    { header: 'Event', wideOnly: true, cell: ({ event_type: type }) => <EventType of={type} /> },
    { header: 'Attempt', align: 'end', wideOnly: true, cell: ({ attempt }) => attempt },
    { header: 'Response', cell: (attempt) => <Outcome of={attempt} /> },
    {
      header: 'Duration, ms',
      align: 'end',
      wideOnly: true,
      cell: ({ duration_ms }) => duration_ms,
    },
    {
      header: 'Actions',
      align: 'end',
      cell: (attempt) => (
        <Button
          small
          aria-label={`Details of attempt ${attempt.attempt} of ${attempt.event_type}`}
          onPress={() => setShown(attempt)}
        >
          Show
        </Button>
      ),
    },
  ];
  return (
    <Section title="Attempts">
      <FilterBar>
        <SearchFilter
          label="Event type"
          value={event_type}
          onChange={(type) => list.setFilters({ event_type: type })}
        />
      </FilterBar>
      <DataTable
        label="Attempts, newest first"
        columns={columns}
        query={attempts}
        list={list}
        empty={
          <EmptyState title="No attempt in the last 30 days">
            “Send test” sends the newest notification as a test.
          </EmptyState>
        }
      />
      <Dialog
        title={shown?.event_type ?? ''}
        isOpen={shown !== null}
        onClose={() => setShown(null)}
        isWide
      >
        {shown === null ? null : (
          <Stack>
            <Facts
              of={[
                ['Response', <Outcome key="outcome" of={shown} />],
                ...(shown.status_code === null && shown.error !== null
                  ? [['Error', <code key="error">{shown.error}</code>] as const]
                  : []),
                ['Notification', shown.system_event_id],
                ['Time', <Time key="at" at={shown.created_at} seconds />],
              ]}
            />
            <CodeBlock label="Request headers" text={headersText(shown.request_headers)} />
            <CodeBlock label="Request body" text={pretty(shown.request_body)} />
            {shown.response_headers === null ? null : (
              <CodeBlock label="Response headers" text={headersText(shown.response_headers)} />
            )}
            {shown.response_body === null ? null : (
              <CodeBlock label="Response body" text={shown.response_body} />
            )}
            <SendAgain of={shown} onDone={() => setShown(null)} />
          </Stack>
        )}
      </Dialog>
    </Section>
  );
}

/** The notification of an attempt, once more to the same endpoint. */
function SendAgain({ of, onDone }: { readonly of: Attempt; readonly onDone: () => void }) {
  const cache = useQueryClient();
  const { endpoint_id, system_event_id } = of;
  const send = useMutation({
    mutationFn: () =>
      answerOf(api.POST('/webhooks/replay', { body: { endpoint_id, system_event_id } })),
    onSuccess: async () => {
      notify('The notification is sent again');
      onDone();
      await cache.invalidateQueries({ queryKey: ['webhook-endpoints'] });
    },
  });
  return (
    <Allowed to="webhook:write">
      {send.error === null ? null : <Failure error={send.error} />}
      <Row>
        <Button isDisabled={send.isPending} onPress={() => send.mutate()}>
          Send again
        </Button>
      </Row>
    </Allowed>
  );
}

const EventType = ({ of: type }: { readonly of: string }) => (
  <code className={styles.type}>
    <InParts text={type} />
  </code>
);

function Outcome({ of: { status_code: status, error } }: { readonly of: Attempt }) {
  if (status === null) return <Badge tone="negative">{failureWords(error)}</Badge>;
  return <Badge tone={status < 300 ? 'positive' : 'negative'}>{status}</Badge>;
}

const headersText = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
