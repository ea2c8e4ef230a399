import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import * as z from 'zod';
import { grantOf } from '../../app/billing/grant-of.ts';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Id } from '../../ui/code-block.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { FieldRow, TextAreaField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Card, Page, Section, Stack } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { AlertForm } from './alert-form.tsx';

type Feature = ApiRecord<'Feature'>;
type Entitlement = ApiRecord<'Entitlement'>;

/** One feature: what it is, and which plans, addons and subscriptions grant how much of it. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const query = useQuery({
    queryKey: ['feature', id],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/features/{id}', { params: { path: { id } }, signal })),
  });
  const feature = query.data;
  return (
    <Page
      title={<bdi>{feature?.name ?? 'Feature'}</bdi>}
      documentTitle={feature?.name ?? 'Feature'}
      crumbs={[{ label: 'Features', to: '/features' }]}
      description={feature?.description ?? undefined}
      actions={feature === undefined ? undefined : <Actions feature={feature} />}
    >
      <Loaded query={query} what="the feature">
        {(data) => (
          <Stack>
            <Section title="Entitlements">
              <Grants featureId={id} />
            </Section>
            <Section title="Details">
              <Card>
                <Facts
                  of={[
                    ['Type', formatWord(data.type)],
                    ['Meter', data.meter === null ? '' : <Link to={`/meters/${data.meter.id}`}>{data.meter.name}</Link>], // prettier-ignore
                    ['Unit', [data.unit_singular, data.unit_plural].filter(Boolean).join(', ')],
                    ['Lookup key', <code key="key">{data.lookup_key}</code>],
                    ['Status', <Status key="status" word={data.status} />],
                    ['Alerts', data.alert_settings?.alert_enabled === true ? 'On' : 'Off'],
                    ['Created', <Time key="created" at={data.created_at} />],
                    ['Id', <Id key="id" of={data.id} />],
                  ]}
                />
              </Card>
            </Section>
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

const COLUMNS: readonly Column<Entitlement>[] = [
  { header: 'Part of', cell: (row) => <bdi>{row.plan?.name ?? row.addon?.name ?? formatWord(row.entity_type)}</bdi> }, // prettier-ignore
  { header: 'Type', cell: ({ entity_type }) => formatWord(entity_type) },
  { header: 'Value', align: 'end', cell: grantOf },
];

/** The part of the address before the id of what grants it. */
const OWNERS = { PLAN: '/plans/', ADDON: '/addons/', SUBSCRIPTION: '/subscriptions/' } as const;

function Grants({ featureId }: { readonly featureId: string }) {
  const query = useQuery({
    queryKey: ['feature', featureId, 'entitlements'],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/entitlements/search', {
          body: { feature_ids: [featureId], expand: ['plans', 'addons'], limit: 200 },
          signal,
        }),
      ),
  });
  return (
    <DataTable
      label="Entitlements"
      query={query}
      columns={COLUMNS}
      rowTo={({ entity_type, entity_id }) => OWNERS[entity_type] + entity_id}
      empty={
        <EmptyState
          title="No entitlements yet"
          action={
            <ButtonLink to="/plans" tone="primary">
              Go to plans
            </ButtonLink>
          }
        >
          Add this feature to a plan. All subscribers of the plan then have it.
        </EmptyState>
      }
    />
  );
}

function Actions({ feature }: { readonly feature: Feature }) {
  const [open, setOpen] = useState<'edit' | 'alerts' | 'archive' | null>(null);
  const navigate = useNavigate();
  const queries = useQueryClient();
  if (feature.status !== 'published') return null;
  return (
    <Allowed to="feature:write">
      <Button onPress={() => setOpen('edit')}>Edit</Button>
      <Button onPress={() => setOpen('alerts')}>Alerts</Button>
      <Button tone="danger" onPress={() => setOpen('archive')}>
        Archive
      </Button>
      <Dialog title="Edit feature" isOpen={open === 'edit'} onClose={() => setOpen(null)}>
        <EditForm feature={feature} onDone={() => setOpen(null)} />
      </Dialog>
      <Dialog title="Alerts" isOpen={open === 'alerts'} onClose={() => setOpen(null)}>
        <AlertForm feature={feature} onDone={() => setOpen(null)} />
      </Dialog>
      <ConfirmDialog
        title="Archive this feature?"
        confirm="Archive feature"
        tone="danger"
        isOpen={open === 'archive'}
        onClose={() => setOpen(null)}
        onConfirm={async () => {
          await answerOf(api.DELETE('/features/{id}', { params: { path: { id: feature.id } } }));
          notify('Feature archived');
          await queries.invalidateQueries();
          await navigate({ to: '/features' });
        }}
      >
        <p>
          Plans cannot grant it any more. While a plan or an addon grants it, it cannot be archived:
          remove its entitlements first.{' '}
          {feature.type === 'metered'
            ? 'Its meter is archived too, unless another feature uses it: later events are not counted.'
            : ''}
        </p>
      </ConfirmDialog>
    </Allowed>
  );
}

const EditBody = z.object({
  name: z.string().trim().min(1, 'is required').max(255),
  description: z.string().max(5_000),
  unit_singular: z.string().max(50),
  unit_plural: z.string().max(50),
});

function EditForm({ feature, onDone }: { readonly feature: Feature; readonly onDone: () => void }) {
  const queries = useQueryClient();
  const isMetered = feature.type === 'metered';
  const form = useApiForm(EditBody, {
    name: feature.name,
    description: feature.description ?? '',
    unit_singular: feature.unit_singular,
    unit_plural: feature.unit_plural,
  });
  const { control } = form;
  return (
    <Form
      form={form}
      submit="Save feature"
      onSubmit={async ({ name, description, ...units }) => {
        await answerOf(
          api.PUT('/features/{id}', {
            params: { path: { id: feature.id } },
            body: { name, description, ...(isMetered ? units : {}) },
          }),
        );
        await queries.invalidateQueries();
        notify('Feature saved');
        onDone();
      }}
    >
      <TextField control={control} name="name" label="Name" isRequired autoFocus />
      {isMetered ? (
        <FieldRow>
          <TextField control={control} name="unit_singular" label="Unit, singular" />
          <TextField control={control} name="unit_plural" label="Unit, plural" />
        </FieldRow>
      ) : null}
      <TextAreaField control={control} name="description" label="Description" rows={2} />
    </Form>
  );
}
