import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { CreditGrants } from '../../app/offer/credit-grants.tsx';
import { Entitlements } from '../../app/offer/entitlements.tsx';
import { offerOf } from '../../app/offer/offer.ts';
import { AddPrice, Prices } from '../../app/offer/prices.tsx';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Id } from '../../ui/code-block.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Card, Page, Section, Stack } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { AddonForm } from './addon-form.tsx';
import { SubscriptionsOfAddon } from './subscriptions-of-addon.tsx';

type Addon = ApiRecord<'Addon'>;

/** One addon: its prices, what it gives, and the subscriptions that have it. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const query = useQuery({
    queryKey: ['addon', id],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/addons/{id}', { params: { path: { id } }, signal })),
  });
  const addon = query.data;
  return (
    <Page
      title={<bdi>{addon?.name ?? 'Addon'}</bdi>}
      documentTitle={addon?.name ?? 'Addon'}
      crumbs={[{ label: 'Addons', to: '/addons' }]}
      description={addon?.description ?? undefined}
      actions={addon === undefined ? undefined : <Actions addon={addon} />}
    >
      <Loaded query={query} what="the addon">
        {(data) => <Content addon={data} />}
      </Loaded>
    </Page>
  );
}

function Content({ addon }: { readonly addon: Addon }) {
  const offer = offerOf('addon', addon);
  return (
    <Stack>
      <Prices offer={offer} />
      <Entitlements offer={offer} />
      <CreditGrants offer={offer} />
      <Allowed to="subscription:read">
        <SubscriptionsOfAddon addonId={addon.id} />
      </Allowed>
      <Section title="Details">
        <Card>
          <Facts
            of={[
              ['Lookup key', <code key="key">{addon.lookup_key}</code>],
              ['Status', <Status key="status" word={addon.status} />],
              ['Created', <Time key="created" at={addon.created_at} />],
              ['Id', <Id key="id" of={addon.id} />],
            ]}
          />
        </Card>
      </Section>
    </Stack>
  );
}

function Actions({ addon }: { readonly addon: Addon }) {
  const [open, setOpen] = useState<'edit' | 'archive' | null>(null);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const close = (): void => setOpen(null);
  const path = { params: { path: { id: addon.id } } };
  if (addon.status !== 'published') return null;
  return (
    <>
      <Allowed to="addon:write">
        <Button onPress={() => setOpen('edit')}>Edit</Button>
        <Button tone="danger" onPress={() => setOpen('archive')}>
          Archive
        </Button>
      </Allowed>
      <AddPrice offer={offerOf('addon', addon)} />
      <Dialog title="Edit addon" isOpen={open === 'edit'} onClose={close}>
        <AddonForm
          addon={addon}
          submit="Save addon"
          onSubmit={async ({ name, description }) => {
            await answerOf(api.PUT('/addons/{id}', { ...path, body: { name, description } }));
            await queries.invalidateQueries();
            notify('Addon saved');
            close();
          }}
        />
      </Dialog>
      <ConfirmDialog
        title="Archive this addon?"
        confirm="Archive addon"
        tone="danger"
        isOpen={open === 'archive'}
        onClose={close}
        onConfirm={async () => {
          await answerOf(api.DELETE('/addons/{id}', path));
          notify('Addon archived');
          await queries.invalidateQueries();
          await navigate({ to: '/addons' });
        }}
      >
        <p>
          It cannot be added to subscriptions any more. While a running subscription has it, it
          cannot be archived: remove it there first.
        </p>
      </ConfirmDialog>
    </>
  );
}
