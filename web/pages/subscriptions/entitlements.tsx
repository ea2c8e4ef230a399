import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { grantOf } from '../../app/billing/grant-of.ts';
import { useMay } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { PlainTable } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Section } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { useAddonsOf } from './addons-of.ts';
import { ChangeEntitlement } from './change-entitlement.tsx';

type Subscription = ApiRecord<'Subscription'>;
type Entitlement = ApiRecord<'Entitlement'>;

/** An entitlement that the subscription has, with its feature and where it is from. */
interface Row extends Pick<
  Entitlement,
  'id' | 'is_enabled' | 'usage_limit' | 'usage_reset_period' | 'static_value' | 'feature_type'
> {
  readonly feature: Pick<ApiRecord<'Feature'>, 'id' | 'name'>;
  readonly from: { readonly id: string; readonly list: string; readonly name: string } | null;
}

/** What the subscription gives and where from. Each can be changed for this subscription alone. */
export function Entitlements({ subscription }: { readonly subscription: Subscription }) {
  const { id, subscription_status: status } = subscription;
  const [changed, setChanged] = useState<Row | null>(null);
  const mayChange = useMay('entitlement:write', 'entitlement:read') && status !== 'cancelled';
  const query = useQuery({
    queryKey: ['subscription', id, 'entitlements'],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/subscriptions/{id}/entitlements', { params: { path: { id } }, signal })),
  });
  // A feature that the subscription turns off is not among those that it gives.
  const own = useQuery({
    queryKey: ['subscription', id, 'own-entitlements'],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/entitlements/search', {
          body: {
            ...{ entity_type: 'SUBSCRIPTION' as const, entity_ids: [id] },
            ...{ is_enabled: false, expand: 'features', limit: 1000 },
          },
          signal,
        }),
      ),
  });
  const addons = useAddonsOf(id);
  const names = new Map(
    (addons.data?.items ?? []).map(({ addon_id, addon }) => [addon_id, addon?.name ?? addon_id]),
  );
  const close = (): void => setChanged(null);
  const inForce = (query.data?.features ?? []).flatMap((feature) => given(feature, names));
  // The two answers may be of different moments.
  const others = (own.data?.items ?? []).filter(
    ({ id: one }) => !inForce.some((row) => row.id === one),
  );
  const rows = [...inForce, ...others.map(off)];
  if (query.isSuccess && rows.length === 0) return null;
  return (
    <Section title="Entitlements">
      <Loaded query={query} what="entitlements">
        {() => (
          <PlainTable
            label="List of entitlements"
            rows={rows}
            columns={[
              {
                header: 'Feature',
                cell: ({ feature }) => (
                  <Link to={`/features/${feature.id}`}>
                    <bdi>{feature.name}</bdi>
                  </Link>
                ),
              },
              { header: 'Part of', cell: ({ from }) => <Origin of={from} /> },
              { header: 'Value', align: 'end', cell: grantOf },
              ...(mayChange
                ? [
                    {
                      header: 'Actions',
                      align: 'end' as const,
                      cell: (row: Row) => (
                        <Button
                          small
                          aria-label={`Change ${row.feature.name}`}
                          onPress={() => setChanged(row)}
                        >
                          Change
                        </Button>
                      ),
                    },
                  ]
                : []),
            ]}
          />
        )}
      </Loaded>
      <Dialog
        title={`Change ${changed?.feature.name ?? 'entitlement'}`}
        isOpen={changed !== null}
        onClose={close}
      >
        {changed === null ? null : (
          <ChangeEntitlement
            subscriptionId={id}
            entitlementId={changed.id}
            isOwn={changed.from === null}
            onDone={close}
          />
        )}
      </Dialog>
    </Section>
  );
}

function Origin({ of: from }: { readonly of: Row['from'] }) {
  if (from === null) return <>This subscription</>;
  return (
    <Link to={`/${from.list}/${from.id}`}>
      <bdi>{from.name}</bdi>
    </Link>
  );
}

/** `names`: of the addons of the subscription, by id. */
const given = (
  { feature, sources }: ApiRecord<'GrantedFeature'>,
  names: ReadonlyMap<string, string>,
): Row[] =>
  sources.map(({ entitlement_id, entity_type, entity_id, entity_name, ...values }) => ({
    ...values,
    id: entitlement_id,
    feature,
    feature_type: feature.type,
    from:
      entity_type === 'subscription'
        ? null
        : // The API gives no name of an addon here.
          {
            id: entity_id,
            list: `${entity_type}s`,
            name: entity_name || (names.get(entity_id) ?? formatWord(entity_type)),
          },
  }));

const off = (entitlement: Entitlement): Row => ({
  ...entitlement,
  feature: entitlement.feature ?? { id: entitlement.feature_id, name: entitlement.feature_id },
  from: null,
});
