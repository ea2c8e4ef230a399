import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { Id } from '../../ui/code-block.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Card, Page, Section } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { Time } from '../../ui/time.tsx';
import { AlertsOfGroup } from './alerts-of-group.tsx';
import { GroupActions } from './group-actions.tsx';
import { PricesOfGroup } from './prices-of-group.tsx';

/** One group: its prices, and the subscriptions whose spend on them is watched. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const query = useQuery({
    queryKey: ['price-group', id],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/groups/{id}', { params: { path: { id } }, signal })),
  });
  const group = query.data;
  return (
    <Page
      title={<bdi>{group?.name ?? 'Price group'}</bdi>}
      documentTitle={group?.name ?? 'Price group'}
      crumbs={[{ label: 'Price groups', to: '/price-groups' }]}
      actions={group === undefined ? undefined : <GroupActions group={group} />}
    >
      <Allowed to="price:read">
        <Section title="Prices" isHidden={query.isPending}>
          <PricesOfGroup groupId={id} isOpen={group?.status === 'published'} />
        </Section>
      </Allowed>
      <Allowed to="alert_settings:read">
        <Section title="Spend alerts" isHidden={query.isPending}>
          <AlertsOfGroup groupId={id} />
        </Section>
      </Allowed>
      <Loaded query={query} what="the price group">
        {(data) => (
          <Section title="Details">
            <Details group={data} />
          </Section>
        )}
      </Loaded>
    </Page>
  );
}

function Details({ group }: { readonly group: ApiRecord<'Group'> }) {
  return (
    <Card>
      <Facts
        of={[
          ['Lookup key', <code key="key">{group.lookup_key}</code>],
          ['Status', <Status key="status" word={group.status} />],
          ['Created', <Time key="created" at={group.created_at} />],
          ['Metadata', <bdi key="metadata">{Object.entries(group.metadata).map(([k, v]) => `${k}: ${v}`).join(', ') || '–'}</bdi>], // prettier-ignore
          ['Id', <Id key="id" of={group.id} />],
        ]}
      />
    </Card>
  );
}
