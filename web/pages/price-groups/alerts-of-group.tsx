import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { SUBSCRIPTION_STATUSES } from '../../../schemas/words.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { useListState } from '../../ui/list-state.ts';
import { Money } from '../../ui/money.tsx';
import { EmptyState } from '../../ui/query-state.tsx';

/** A spend alert of the group on one subscription. */
interface Row extends ApiRecord<'AlertSetting'> {
  readonly subscription: ApiRecord<'Subscription'> | null;
}

const COLUMNS: readonly Column<Row>[] = [
  {
    header: 'Subscription',
    cell: ({ subscription: one, parent_entity_id }) => (
      <bdi>
        {one === null
          ? parent_entity_id
          : `${one.plan?.name ?? one.plan_id} · ${one.customer?.name ?? one.customer_id}`}
      </bdi>
    ),
  },
  level('Critical', 'critical'),
  level('Warning', 'warning'),
  level('Notice', 'info'),
  { header: 'Status', cell: (row) => <Status word={row.enabled ? row.alert_state : 'off'} /> },
];

function level(header: string, name: 'critical' | 'warning' | 'info'): Column<Row> {
  return {
    header,
    align: 'end',
    wideOnly: name !== 'critical',
    cell: ({ config, subscription }) => {
      const set = config[name];
      if (set === null) return '–';
      return subscription === null ? (
        set.threshold
      ) : (
        <Money amount={set.threshold} currency={subscription.currency} />
      );
    },
  };
}

/** The subscriptions that watch their spend on the group, page by page. */
export function AlertsOfGroup({ groupId }: { readonly groupId: string }) {
  const list = useListState({});
  const query = useQuery({
    queryKey: ['price-group', groupId, 'alerts', list.paging],
    queryFn: async ({ signal }) => {
      const page = await answerOf(
        api.POST('/alerts/setting/search', {
          body: { ...list.paging, entity_type: 'group', entity_id: groupId },
          signal,
        }),
      );
      const subscriptions = await subscriptionsOf(page.items, signal);
      const items = page.items.map((setting): Row => ({
        ...setting,
        subscription: subscriptions.get(setting.parent_entity_id ?? '') ?? null,
      }));
      return { ...page, items };
    },
    placeholderData: keepPreviousData,
  });
  return (
    <DataTable
      label="Spend alerts of the group"
      query={query}
      list={list}
      columns={COLUMNS}
      rowTo={({ parent_entity_id }) => `/subscriptions/${parent_entity_id ?? ''}`}
      empty={
        <EmptyState
          title="No subscription watches it"
          action={<ButtonLink to="/subscriptions">Go to subscriptions</ButtonLink>}
        >
          Set a spend alert for the group on the page of a subscription that has one of its prices.
        </EmptyState>
      }
    />
  );
}

/** By id: the subscriptions of these settings, with plan and customer. */
async function subscriptionsOf(
  settings: readonly ApiRecord<'AlertSetting'>[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ApiRecord<'Subscription'>>> {
  const ids = settings.flatMap(({ parent_entity_id }) => parent_entity_id ?? []);
  if (ids.length === 0) return new Map();
  const { items } = await answerOf(
    api.POST('/subscriptions/search', {
      body: {
        subscription_ids: ids,
        subscription_status: [...SUBSCRIPTION_STATUSES],
        expand: ['plan', 'customer'],
        limit: ids.length,
      },
      signal,
    }),
  );
  return new Map(items.map((one) => [one.id, one]));
}
