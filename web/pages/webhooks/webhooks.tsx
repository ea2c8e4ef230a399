import { useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { ListPage, listOf } from '../../app/list/list-page.tsx';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { ShownOnce } from '../../ui/shown-once.tsx';
import { Time } from '../../ui/time.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { EndpointState, stateOf } from './endpoint-state.tsx';

type Endpoint = ApiRecord<'WebhookEndpoint'>;

const COLUMNS: readonly Column<Endpoint>[] = [
  { header: 'Address', cell: ({ url }) => url },
  { header: 'Status', cell: (endpoint) => <EndpointState of={endpoint} /> },
  { header: 'Events', wideOnly: true, cell: ({ event_types: types }) => types.length === 0 ? 'All' : types.join(', ') },
  { header: 'Description', wideOnly: true, cell: ({ description }) => description ?? '–' },
  { header: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
]; // prettier-ignore

const ENDPOINTS = listOf({
  name: 'webhook-endpoints',
  title: 'Webhooks',
  label: 'Endpoints',
  description: 'Notifications are signed, and repeated for four days until the receiver answers.',
  filters: [],
  search: ({ limit, offset }, _filters, signal) =>
    answerOf(api.GET('/webhooks/endpoints', { params: { query: { limit, offset } }, signal })),
  columns: COLUMNS,
  file: [
    ['url', ({ url }) => url],
    ['status', stateOf],
    ['events', (row) => row.event_types.join(' ')],
    ['description', ({ description }) => description],
    ['created', (row) => row.created_at],
    ['id', ({ id }) => id],
  ],
  rowTo: ({ id }) => `/webhooks/${id}`,
  unmatched: { title: 'No endpoint matches' },
});

/** Receivers of notifications. */
export function View() {
  const [isAdding, setAdding] = useState(false);
  const add = (
    <Allowed to="webhook:write">
      <Button tone="primary" icon={<Plus size={14} aria-hidden />} onPress={() => setAdding(true)}>
        Add endpoint
      </Button>
    </Allowed>
  );
  return (
    <ListPage
      list={ENDPOINTS}
      actions={add}
      empty={
        <EmptyState title="No endpoint yet" action={add}>
          An endpoint is a URL of your service. It gets a notification when an invoice is finalized,
          a payment fails or a balance runs low.
        </EmptyState>
      }
    >
      <Dialog title="Add endpoint" isOpen={isAdding} onClose={() => setAdding(false)} isWide>
        <AddEndpoint onDone={() => setAdding(false)} />
      </Dialog>
    </ListPage>
  );
}

function AddEndpoint({ onDone }: { readonly onDone: () => void }) {
  const cache = useQueryClient();
  const [secret, setSecret] = useState<string | null>(null);
  if (secret !== null)
    return (
      <ShownOnce label="Secret" text={secret} onDone={onDone}>
        The receiver checks signatures with this secret.
      </ShownOnce>
    );
  return (
    <EndpointForm
      submit="Add endpoint"
      values={{ url: '', description: '', event_types: [] }}
      onSubmit={async (body) => {
        const made = await answerOf(api.POST('/webhooks/endpoints', { body }));
        await cache.invalidateQueries({ queryKey: ['webhook-endpoints'] });
        setSecret(made.secret);
      }}
    />
  );
}
