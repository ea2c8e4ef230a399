import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../../app/person.tsx';
import type { ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { PlainTable, type Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Quantity } from '../../ui/money.tsx';
import { Section } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { Day, LastDay } from '../../ui/time.tsx';
import { useAddonsOf } from './addons-of.ts';
import { PreviewedRemoval } from './previewed-removal.tsx';

type Subscription = ApiRecord<'Subscription'>;
type Association = ApiRecord<'AddonAssociation'>;

/** A table of the addons that have not ended. Each can be removed, after a preview. Not shown if there are none. */
export function Addons({ subscription }: { readonly subscription: Subscription }) {
  const [removed, setRemoved] = useState<Association | null>(null);
  const mayWrite = useMay('subscription:write');
  const { id, subscription_status: status } = subscription;
  const query = useAddonsOf(id);
  const addons = query.data?.items ?? [];
  if (addons.length === 0 && !query.isError) return null;
  const isRunning = status === 'active' || status === 'trialing';
  return (
    <Section title="Addons">
      <Loaded query={query} what="addons">
        {({ items }) => (
          <PlainTable
            label="List of addons"
            rows={items}
            columns={[
              ...columnsOf(subscription.customer_timezone),
              ...(mayWrite && isRunning ? [removeColumn(setRemoved)] : []),
            ]}
          />
        )}
      </Loaded>
      <Dialog
        title={`Remove ${removed === null ? 'addon' : nameOf(removed)}`}
        isOpen={removed !== null}
        onClose={() => setRemoved(null)}
        isWide
      >
        {removed === null ? null : (
          <PreviewedRemoval
            subscription={subscription}
            change={{
              type: 'addon',
              addon_params: { action: 'remove', remove: { addon_association_id: removed.id } },
            }}
            confirm="Remove the addon"
            done="The addon ends with the period"
            onClose={() => setRemoved(null)}
          >
            <p>
              The addon ends with the current period, on{' '}
              <Day at={subscription.current_period_end} zone={subscription.customer_timezone} />.
            </p>
          </PreviewedRemoval>
        )}
      </Dialog>
    </Section>
  );
}

const nameOf = ({ addon, addon_id }: Association): string => addon?.name ?? addon_id;

const columnsOf = (zone: string): readonly Column<Association>[] => [
  {
    header: 'Addon',
    cell: (row) => (
      <Link to={`/addons/${row.addon_id}`}>
        <bdi>{nameOf(row)}</bdi>
      </Link>
    ),
  },
  { header: 'Quantity', align: 'end', cell: ({ quantity }) => <Quantity value={quantity} /> },
  {
    header: 'First day',
    wideOnly: true,
    cell: ({ start_date }) => <Day at={start_date} zone={zone} />,
  },
  { header: 'Last day', cell: ({ end_date }) => <LastDay end={end_date} zone={zone} /> },
];

const removeColumn = (onPress: (row: Association) => void): Column<Association> => ({
  header: 'Remove',
  align: 'end',
  cell: (row) =>
    row.end_date !== null || row.addon_status !== 'active' ? (
      '–'
    ) : (
      <Button small aria-label={`Remove ${nameOf(row)}`} onPress={() => onPress(row)}>
        Remove
      </Button>
    ),
});
