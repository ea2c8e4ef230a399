import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { CreateUserBody, UpdateRolesBody } from '../../../schemas/tenancy.ts';
import { ListFile, type FileColumn } from '../../app/list/list-file.tsx';
import { Allowed, useMay, useSignedIn } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { useListState } from '../../ui/list-state.ts';
import { Page, Row, Stack } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { ShownOnce } from '../../ui/shown-once.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { formatWord } from '../../ui/text.ts';
import { notify } from '../../ui/toasts.tsx';
import { useUrlState } from '../../ui/url-state.ts';

type User = ApiRecord<'User'>;
type Kind = 'user' | 'service_account';

const ROLES: Readonly<Record<Kind, readonly (readonly [string, string])[]>> = {
  user: [
    ['all_reader', 'Reader: reads everything'],
    ['all_writer', 'Writer: reads and writes everything but people and settings'],
    ['super_admin', 'Super admin: may do everything'],
  ],
  service_account: [
    ['event_ingestor', 'Sends events'],
    ['event_reader', 'Reads events'],
    ['super_admin', 'Super admin'],
  ],
};

const TAB = { tab: 'user' };

/** People and service accounts of the company, with their roles. */
export function View() {
  const [{ tab }, setTab] = useUrlState<'tab'>(TAB);
  const [isInviting, setInviting] = useState(false);
  const kind: Kind = tab === 'service_account' ? 'service_account' : 'user';
  return (
    <Page
      title="People"
      description="People and service accounts of the company, in all environments."
      actions={
        <Allowed to="user:write">
          <Button
            tone="primary"
            icon={<Plus size={14} aria-hidden />}
            onPress={() => setInviting(true)}
          >
            {kind === 'user' ? 'Invite person' : 'Add service account'}
          </Button>
        </Allowed>
      }
    >
      <Tabs
        label="Kind of account"
        chosen={kind}
        onChoose={(chosen) => setTab({ tab: chosen })}
        tabs={[
          { id: 'user', label: 'People', content: () => <Accounts kind="user" /> },
          {
            id: 'service_account',
            label: 'Service accounts',
            content: () => <Accounts kind="service_account" />,
          },
        ]}
      />
      <Dialog
        title={kind === 'user' ? 'Invite person' : 'Add service account'}
        isOpen={isInviting}
        onClose={() => setInviting(false)}
      >
        <Invite key={kind} kind={kind} onDone={() => setInviting(false)} />
      </Dialog>
    </Page>
  );
}

function Accounts({ kind }: { readonly kind: Kind }) {
  const list = useListState({});
  const cache = useQueryClient();
  const { person } = useSignedIn();
  const mayWrite = useMay('user:write') && person.roles.includes('super_admin');
  const [changing, setChanging] = useState<User | null>(null);
  const [removing, setRemoving] = useState<User | null>(null);
  const body = { ...list.paging, type: kind };
  const users = useQuery({
    queryKey: ['users', body],
    queryFn: ({ signal }) => answerOf(api.POST('/users/search', { body, signal })),
    placeholderData: keepPreviousData,
  });
  const columns: readonly Column<User>[] = [
    {
      header: 'Name',
      cell: (user) => (
        <Row>
          <bdi>{nameOf(user)}</bdi>
          {user.id === person.id ? <Badge>You</Badge> : null}
        </Row>
      ),
    },
    ...(kind === 'user' ? [{ header: 'E-mail', cell: ({ email }: User) => email ?? '–' }] : []),
    {
      header: 'Roles',
      cell: ({ roles }) => (
        <Row>
          {roles.map((role) => (
            <Badge key={role}>{formatWord(role)}</Badge>
          ))}
        </Row>
      ),
    },
    {
      header: 'Environments',
      wideOnly: true,
      cell: ({ environment_ids }) => (environment_ids === null ? 'All' : environment_ids.length),
    },
    ...(mayWrite
      ? [
          {
            header: 'Actions',
            align: 'end' as const,
            cell: (user: User) =>
              user.id === person.id ? (
                '–'
              ) : (
                <Row>
                  {kind === 'user' ? (
                    <Button
                      small
                      aria-label={`Change roles of ${nameOf(user)}`}
                      onPress={() => setChanging(user)}
                    >
                      Roles
                    </Button>
                  ) : null}
                  <Button
                    small
                    tone="danger"
                    aria-label={`Remove ${nameOf(user)}`}
                    onPress={() => setRemoving(user)}
                  >
                    Remove
                  </Button>
                </Row>
              ),
          },
        ]
      : []),
  ];
  const refresh = () => cache.invalidateQueries({ queryKey: ['users'] });
  return (
    <Stack>
      <Row>
        <ListFile
          name={kind === 'user' ? 'people' : 'service-accounts'}
          columns={FILE}
          page={(paging, signal) =>
            answerOf(api.POST('/users/search', { body: { ...body, ...paging }, signal }))
          }
        />
      </Row>
      <DataTable
        label={kind === 'user' ? 'People' : 'Service accounts'}
        columns={columns}
        query={users}
        list={list}
        empty={
          <EmptyState title="No service account yet">
            A service account owns API keys of programs. Its keys stay valid when a person leaves.
          </EmptyState>
        }
      />
      <Dialog
        title={changing === null ? 'Change roles' : `Change roles of ${nameOf(changing)}`}
        isOpen={changing !== null}
        onClose={() => setChanging(null)}
      >
        {changing === null ? null : (
          <Roles
            user={changing}
            onDone={async () => {
              await refresh();
              setChanging(null);
            }}
          />
        )}
      </Dialog>
      <ConfirmDialog
        title={`Remove ${removing === null ? '' : nameOf(removing)}`}
        confirm="Remove"
        tone="danger"
        isOpen={removing !== null}
        onClose={() => setRemoving(null)}
        onConfirm={async () => {
          const path = { id: removing!.id };
          if (kind === 'user') await answerOf(api.POST('/users/{id}/remove', { params: { path } }));
          else await answerOf(api.DELETE('/users/{id}', { params: { path } }));
          await refresh();
          notify('Removed');
        }}
      >
        <p>
          {kind === 'user'
            ? `Sessions and keys of ${removing === null ? '' : nameOf(removing)} end at once.`
            : 'Delete its keys under API keys first: an account with keys cannot be removed.'}
        </p>
      </ConfirmDialog>
    </Stack>
  );
}

const FILE: readonly FileColumn<User>[] = [
  ['name', ({ name }) => name],
  ['email', ({ email }) => email],
  ['roles', ({ roles }) => roles.join(' ')],
  ['environment_ids', (row) => row.environment_ids?.join(' ') ?? null],
  ['id', ({ id }) => id],
];

const nameOf = ({ name, email, id }: User): string => name || email || id;

function Roles({ user, onDone }: { readonly user: User; readonly onDone: () => Promise<void> }) {
  const form = useApiForm(UpdateRolesBody, { roles: user.roles });
  return (
    <Form
      form={form}
      submit="Change roles"
      onSubmit={async ({ roles }) => {
        const params = { path: { id: user.id } };
        await answerOf(api.PUT('/users/{id}/roles', { params, body: { roles } }));
        notify('Roles changed');
        await onDone();
      }}
    >
      <SelectField
        control={form.control}
        name="roles.0"
        label="Role"
        isRequired
        choices={ROLES.user}
      />
    </Form>
  );
}

function Invite({ kind, onDone }: { readonly kind: Kind; readonly onDone: () => void }) {
  const cache = useQueryClient();
  const [password, setPassword] = useState<string | null>(null);
  const form = useApiForm(CreateUserBody, {
    type: kind,
    email: '',
    name: '',
    roles: [ROLES[kind][0]![0]],
  });
  if (password !== null)
    return (
      <ShownOnce label="Password" text={password} onDone={onDone}>
        Give this password to the person.
      </ShownOnce>
    );
  return (
    <Form
      form={form}
      submit={kind === 'user' ? 'Invite person' : 'Add service account'}
      onSubmit={async ({ email, name, roles }) => {
        const body = { type: kind, name, roles, ...(kind === 'user' ? { email } : {}) };
        const made = await answerOf(api.POST('/users', { body: body as never }));
        await cache.invalidateQueries({ queryKey: ['users'] });
        if (made.password === null) {
          notify(kind === 'user' ? 'Person invited' : 'Service account added');
          onDone();
        } else setPassword(made.password);
      }}
    >
      <p>
        {kind === 'user'
          ? 'You get a first password to give to the person. The role applies in all environments.'
          : 'It owns API keys of programs, which you create under API keys. Its role cannot be changed later.'}
      </p>
      {kind === 'user' ? (
        <TextField
          control={form.control}
          name="email"
          label="E-mail"
          kind="email"
          isRequired
          autoFocus
        />
      ) : null}
      <TextField control={form.control} name="name" label="Name" isRequired={kind !== 'user'} />
      <SelectField
        control={form.control}
        name="roles.0"
        label="Role"
        isRequired
        choices={ROLES[kind]}
      />
    </Form>
  );
}
