import { useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { ConnectBucket } from '../../app/connect-bucket.tsx';
import { ListPage, listOf } from '../../app/list/list-page.tsx';
import { Allowed, useMay, useSignedIn } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';

type Connection = ApiRecord<'Connection'>;

const NAMES: Readonly<Record<string, string>> = {
  test: 'Test gateway',
  stripe: 'Stripe',
  razorpay: 'Razorpay',
  s3: 'S3 bucket',
  hubspot: 'HubSpot',
  chargebee: 'Chargebee',
  quickbooks: 'QuickBooks',
  zoho_books: 'Zoho Books',
  paddle: 'Paddle',
  aws_marketplace: 'AWS Marketplace',
  gcp_marketplace: 'Google Cloud Marketplace',
  azure_marketplace: 'Azure Marketplace',
};

const nameOf = (provider: string): string => NAMES[provider] ?? provider;

const CONNECTIONS = listOf({
  name: 'connections',
  title: 'Connections',
  label: 'List of connections',
  description:
    'Payment gateways and other services. Their keys are encrypted and never shown again.',
  filters: [],
  async search({ limit, offset }, _filters, signal) {
    const body = { limit, offset };
    const answer = await answerOf(api.POST('/connections/search', { body, signal }));
    return { items: answer.connections, pagination: { total: answer.total, limit, offset } };
  },
  columns: [],
  file: [
    ['name', ({ name }) => name],
    ['service', (row) => row.provider_type],
    ['account', (row) => row.gateway_account_id],
    ['created', (row) => row.created_at],
    ['id', ({ id }) => id],
  ],
  unmatched: { title: 'No connection matches' },
});

/** Services that this environment uses: payment gateways and buckets for exports. */
export function View() {
  const mayWrite = useMay('connection:write');
  const queries = useQueryClient();
  const [isAdding, setAdding] = useState(false);
  const [isBucket, setBucket] = useState(false);
  const [ending, setEnding] = useState<Connection | null>(null);
  const columns: readonly Column<Connection>[] = [
    { header: 'Name', cell: ({ name }) => <bdi>{name}</bdi> },
    { header: 'Service', cell: ({ provider_type }) => nameOf(provider_type) },
    { header: 'Account', wideOnly: true, cell: (row) => row.gateway_account_id ?? '–' },
    { header: 'Created', wideOnly: true, cell: ({ created_at }) => <Time at={created_at} /> },
    ...(mayWrite
      ? [
          {
            header: 'Actions',
            align: 'end' as const,
            cell: (connection: Connection) => (
              <Button
                small
                tone="danger"
                aria-label={`Disconnect ${connection.name}`}
                onPress={() => setEnding(connection)}
              >
                Disconnect
              </Button>
            ),
          },
        ]
      : []),
  ];
  const add = (
    <Allowed to="connection:write">
      <Button onPress={() => setBucket(true)}>Connect a bucket</Button>
      <Button tone="primary" icon={<Plus size={14} aria-hidden />} onPress={() => setAdding(true)}>
        Connect a gateway
      </Button>
    </Allowed>
  );
  return (
    <ListPage
      list={{ ...CONNECTIONS, columns }}
      actions={add}
      empty={
        <EmptyState title="No connection yet" action={add}>
          Customers pay invoices through a gateway. The test gateway moves no money and lets you try
          every outcome.
        </EmptyState>
      }
    >
      <Dialog title="Connect a gateway" isOpen={isAdding} onClose={() => setAdding(false)}>
        <Connect
          onDone={async () => {
            notify('Gateway connected');
            await queries.invalidateQueries({ queryKey: ['connections'] });
            setAdding(false);
          }}
        />
      </Dialog>
      <Dialog title="Connect a bucket" isOpen={isBucket} onClose={() => setBucket(false)}>
        <ConnectBucket onDone={() => setBucket(false)} />
      </Dialog>
      <ConfirmDialog
        title="Disconnect this service?"
        confirm="Disconnect"
        tone="danger"
        isOpen={ending !== null}
        onClose={() => setEnding(null)}
        onConfirm={async () => {
          await answerOf(api.DELETE('/connections/{id}', { params: { path: { id: ending!.id } } }));
          notify('Disconnected');
          await queries.invalidateQueries({ queryKey: ['connections'] });
        }}
      >
        <p>
          The keys of <bdi>{ending?.name}</bdi> are deleted for good, and exports through it end.
          Payments that were made stay.
        </p>
      </ConfirmDialog>
    </ListPage>
  );
}

const Body = z
  .object({
    name: z.string().min(1, 'is required').max(255),
    provider_type: z.enum(['test', 'stripe']),
    secret_key: z.string().max(20_000),
    webhook_secret: z.string().max(20_000),
  })
  .refine(({ provider_type, secret_key }) => provider_type === 'test' || secret_key !== '', {
    path: ['secret_key'],
    message: 'is required',
  });

function Connect({ onDone }: { readonly onDone: () => Promise<void> }) {
  const { environment } = useSignedIn();
  const isLive = environment.type === 'production';
  const form = useApiForm(Body, {
    name: '',
    provider_type: isLive ? 'stripe' : 'test',
    secret_key: '',
    webhook_secret: '',
  });
  const provider = useWatch({ control: form.control, name: 'provider_type' });
  return (
    <Form
      form={form}
      submit="Connect"
      onSubmit={async ({ name, provider_type, secret_key, webhook_secret }) => {
        const secrets = {
          secret_key,
          ...(webhook_secret === '' ? {} : { webhook_secret }),
        };
        await answerOf(
          api.POST('/connections', {
            body: {
              name,
              provider_type,
              ...(provider_type === 'test' ? {} : { encrypted_secret_data: secrets }),
            },
          }),
        );
        await onDone();
      }}
    >
      <TextField control={form.control} name="name" label="Name" isRequired autoFocus />
      <SelectField
        control={form.control}
        name="provider_type"
        label="Service"
        isRequired
        choices={[
          ...(isLive ? [] : [['test', 'Test gateway: moves no money'] as const]),
          ['stripe', 'Stripe'],
        ]}
      />
      {provider === 'stripe' ? (
        <>
          <TextField
            control={form.control}
            name="secret_key"
            label="Secret key"
            kind="password"
            autoComplete="off"
            isRequired
          />
          <TextField
            control={form.control}
            name="webhook_secret"
            label="Signing secret of its webhook"
            kind="password"
            autoComplete="off"
          />
        </>
      ) : null}
    </Form>
  );
}
