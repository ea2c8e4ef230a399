import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import * as z from 'zod';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Card, Page, Section } from '../../ui/page.tsx';
import { Failure, Loaded } from '../../ui/query-state.tsx';
import { ShownOnce } from '../../ui/shown-once.tsx';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { Attempts } from './attempts.tsx';
import { EndpointForm, type EndpointValues } from './endpoint-form.tsx';
import { EndpointState } from './endpoint-state.tsx';
import { failureWords } from './failure-words.ts';

type Endpoint = ApiRecord<'WebhookEndpoint'>;

/** One receiver: its state, every attempt with what was sent and answered, and sending again. */
export function View() {
  const { id } = useParams({ strict: false }) as { id: string };
  const endpoint = useQuery({
    queryKey: ['webhook-endpoints', id],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/webhooks/endpoints/{id}', { params: { path: { id } }, signal })),
  });
  return (
    <Page
      title="Webhook endpoint"
      crumbs={[{ label: 'Webhooks', to: '/webhooks' }]}
      description={endpoint.data?.url}
      actions={endpoint.data === undefined ? undefined : <Actions of={endpoint.data} />}
    >
      <Loaded query={endpoint} what="the endpoint">
        {(found) => (
          <>
            <Section title="Details">
              <Card>
                <Facts
                  of={[
                    ['Address', found.url],
                    ['Status', <EndpointState key="state" of={found} />],
                    ...(found.disabled_reason === null
                      ? []
                      : [['Reason', found.disabled_reason] as const]),
                    ['Failing since', <Time key="failing" at={found.failing_since} />],
                    [
                      'Events',
                      found.event_types.length === 0 ? 'All' : found.event_types.join(', '),
                    ],
                    ['Description', found.description],
                  ]}
                />
              </Card>
            </Section>
            <Attempts id={id} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Actions({ of: endpoint }: { readonly of: Endpoint }) {
  const { id } = endpoint;
  const cache = useQueryClient();
  const navigate = useNavigate();
  const [open, setOpen] = useState<'edit' | 'replay' | 'rotate' | 'delete' | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const params = { path: { id } };
  const refresh = () => cache.invalidateQueries({ queryKey: ['webhook-endpoints'] });
  const test = useMutation({
    mutationFn: () => answerOf(api.POST('/webhooks/endpoints/{id}/test', { params, body: {} })),
    onSuccess: async (attempt) => {
      notify(
        attempt.error === null
          ? `Answered ${attempt.status_code}`
          : `Failed: ${failureWords(attempt.error)}`,
      );
      await refresh();
    },
  });
  const turn = useMutation({
    mutationFn: () =>
      answerOf(
        api.PUT('/webhooks/endpoints/{id}', { params, body: { enabled: !endpoint.enabled } }),
      ),
    onSuccess: refresh,
  });
  const failure = test.error ?? turn.error;
  return (
    <Allowed to="webhook:write">
      {failure === null ? null : <Failure error={failure} />}
      <Button isDisabled={test.isPending} onPress={() => test.mutate()}>
        Send test
      </Button>
      <Button onPress={() => setOpen('replay')}>Resend</Button>
      <Button onPress={() => setOpen('rotate')}>Rotate secret</Button>
      <Button isDisabled={turn.isPending} onPress={() => turn.mutate()}>
        {endpoint.enabled ? 'Turn off' : 'Turn on'}
      </Button>
      <Button onPress={() => setOpen('edit')}>Edit</Button>
      <Button tone="danger" onPress={() => setOpen('delete')}>
        Delete
      </Button>
      <Dialog title="Edit endpoint" isOpen={open === 'edit'} onClose={() => setOpen(null)} isWide>
        <EndpointForm
          submit="Save endpoint"
          values={{
            url: endpoint.url,
            description: endpoint.description,
            event_types: endpoint.event_types as EndpointValues['event_types'],
          }}
          onSubmit={async (body) => {
            await answerOf(
              api.PUT('/webhooks/endpoints/{id}', {
                params,
                body: { ...body, event_types: [...body.event_types] },
              }),
            );
            await refresh();
            notify('Endpoint saved');
            setOpen(null);
          }}
        />
      </Dialog>
      <ConfirmDialog
        title="Delete endpoint"
        confirm="Delete endpoint"
        tone="danger"
        isOpen={open === 'delete'}
        onClose={() => setOpen(null)}
        onConfirm={async () => {
          await answerOf(api.DELETE('/webhooks/endpoints/{id}', { params }));
          notify('Endpoint deleted');
          await navigate({ to: '/webhooks' });
          await cache.invalidateQueries({ queryKey: ['webhook-endpoints'] });
        }}
      >
        <p>
          Nothing is sent to <bdi>{endpoint.url}</bdi> any more, and its attempts are no longer
          shown.
        </p>
      </ConfirmDialog>
      <Dialog title="Resend" isOpen={open === 'replay'} onClose={() => setOpen(null)}>
        <Replay id={id} onDone={() => setOpen(null)} />
      </Dialog>
      <ConfirmDialog
        title="Rotate secret"
        confirm="Make new secret"
        isOpen={open === 'rotate'}
        onClose={() => setOpen(null)}
        onConfirm={async () => {
          const made = await answerOf(api.POST('/webhooks/endpoints/{id}/rotate', { params }));
          setSecret(made.secret);
          await refresh();
        }}
      >
        <p>For 24 hours notifications are signed with the old and the new secret.</p>
      </ConfirmDialog>
      <Dialog title="Signing secret" isOpen={secret !== null} onClose={() => setSecret(null)}>
        <ShownOnce label="Secret" text={secret ?? ''} onDone={() => setSecret(null)} />
      </Dialog>
    </Allowed>
  );
}

const Days = z
  .object({ from: z.iso.date('choose a day'), to: z.iso.date('choose a day') })
  .refine(({ from, to }) => from <= to, {
    path: ['to'],
    message: 'must not be before the first day',
  });

const DAY_MS = 86_400_000;

function Replay({ id, onDone }: { readonly id: string; readonly onDone: () => void }) {
  const [today] = useState(() => new Date().toISOString().slice(0, 10));
  const form = useApiForm(Days, { from: today, to: today });
  return (
    <Form
      form={form}
      submit="Resend"
      onSubmit={async ({ from, to }) => {
        const end = new Date(Date.parse(`${to}T00:00:00Z`) + DAY_MS).toISOString();
        const body = { endpoint_id: id, from: `${from}T00:00:00Z`, to: end };
        const { count } = await answerOf(api.POST('/webhooks/replay', { body }));
        notify(`${count} notifications are sent again`);
        onDone();
      }}
    >
      <p>Every notification of these days (UTC) is sent again with the id that it had.</p>
      <TextField control={form.control} name="from" label="First day" kind="date" isRequired />
      <TextField control={form.control} name="to" label="Last day" kind="date" isRequired />
    </Form>
  );
}
