import { useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { kind } from '../../app/list/filters.tsx';
import { ListPage, listOf } from '../../app/list/list-page.tsx';
import { Allowed, useMay, useSignedIn } from '../../app/person.tsx';
import { PersonName } from '../../app/person-name.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { Row } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { CreateKey } from './create-key.tsx';
import { KEY_TYPES } from './key-types.ts';
import { RotateKey } from './rotate-key.tsx';

type ApiKey = ApiRecord<'ApiKey'>;

const KEYS = listOf({
  name: 'api-keys',
  title: 'API keys',
  label: 'Keys',
  description: 'A key works in this environment only. Its secret is shown once.',
  filters: [kind('type', 'Type', KEY_TYPES)],
  search: ({ limit, offset }, { type }, signal) =>
    answerOf(
      api.GET('/secrets/api/keys', {
        params: { query: { limit, offset, type: type as ApiKey['type'] } },
        signal,
      }),
    ),
  columns: [],
  file: [
    ['name', ({ name }) => name],
    ['key', (row) => row.display_id],
    ['service_account', (row) => row.service_account_name],
    ['user_id', (row) => row.user_id],
    ['permissions', (row) => (row.permissions.length > 0 ? row.permissions : row.roles).join(' ')],
    ['last_used', (row) => row.last_used_at],
    ['expires', (row) => row.expires_at],
    ['id', ({ id }) => id],
  ],
  unmatched: { title: 'No key matches' },
});

/** Keys of this environment: who owns each, what it may do, when it was last used. */
export function View() {
  const cache = useQueryClient();
  const mayWrite = useMay('secret:write');
  const { person } = useSignedIn();
  const [isCreating, setCreating] = useState(false);
  const [ending, setEnding] = useState<ApiKey | null>(null);
  const [rotating, setRotating] = useState<ApiKey | null>(null);
  // A person's key is rotated by that person alone.
  const mayRotate = ({ user_id, user_type }: ApiKey): boolean =>
    user_id === person.id ||
    (user_type === 'service_account' && person.roles.includes('super_admin'));
  const columns: readonly Column<ApiKey>[] = [
    { header: 'Name', cell: ({ name }) => name },
    { header: 'Key', cell: ({ display_id }) => <code>{display_id}</code> },
    {
      header: 'Owner',
      wideOnly: true,
      cell: ({ service_account_name, user_id }) =>
        service_account_name ?? (user_id === null ? '–' : <PersonName id={user_id} />),
    },
    {
      header: 'Permissions',
      wideOnly: true,
      cell: ({ permissions, roles }) =>
        (permissions.length > 0 ? permissions : roles.map(formatWord)).join(', '),
    },
    {
      header: 'Last used',
      wideOnly: true,
      cell: ({ last_used_at }) => (last_used_at === null ? 'Never' : <Time at={last_used_at} />),
    },
    {
      header: 'Expires',
      wideOnly: true,
      cell: ({ expires_at }) => (expires_at === null ? 'Never' : <Time at={expires_at} />),
    },
    ...(mayWrite
      ? [
          {
            header: 'Actions',
            align: 'end' as const,
            cell: (key: ApiKey) => (
              <Row>
                {mayRotate(key) ? (
                  <Button
                    small
                    aria-label={`Rotate key ${key.name}`}
                    onPress={() => setRotating(key)}
                  >
                    Rotate
                  </Button>
                ) : null}
                <Button
                  small
                  tone="danger"
                  aria-label={`Delete key ${key.name}`}
                  onPress={() => setEnding(key)}
                >
                  Delete
                </Button>
              </Row>
            ),
          },
        ]
      : []),
  ];
  const create = (
    <Allowed to="secret:write">
      <Button
        tone="primary"
        icon={<Plus size={14} aria-hidden />}
        onPress={() => setCreating(true)}
      >
        Create key
      </Button>
    </Allowed>
  );
  return (
    <ListPage
      list={{ ...KEYS, columns }}
      actions={create}
      empty={
        <EmptyState title="No keys of this type yet" action={create}>
          Programs send a private key in the header <code>x-api-key</code>. A publishable key stands
          in web pages: it sends events and does nothing else.
        </EmptyState>
      }
    >
      <Dialog title="Create key" isOpen={isCreating} onClose={() => setCreating(false)}>
        <CreateKey onDone={() => setCreating(false)} />
      </Dialog>
      <Dialog title="Rotate key" isOpen={rotating !== null} onClose={() => setRotating(null)}>
        {rotating === null ? null : <RotateKey of={rotating} onDone={() => setRotating(null)} />}
      </Dialog>
      <ConfirmDialog
        title="Delete key"
        confirm="Delete key"
        tone="danger"
        isOpen={ending !== null}
        onClose={() => setEnding(null)}
        onConfirm={async () => {
          const path = { id: ending!.id };
          await answerOf(api.DELETE('/secrets/api/keys/{id}', { params: { path } }));
          await cache.invalidateQueries({ queryKey: ['api-keys'] });
          notify('Key deleted');
        }}
      >
        <p>
          Requests with <strong>{ending?.name}</strong> (<code>{ending?.display_id}</code>) are
          refused at once, and so are those with keys that it made. This cannot be undone.
        </p>
      </ConfirmDialog>
    </ListPage>
  );
}
