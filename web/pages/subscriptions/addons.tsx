import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { PlainTable, type Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Quantity } from '../../ui/money.tsx';
import { Section } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { Day } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { PreviewedChange, previewOf } from './previewed-change.tsx';

type Subscription = ApiRecord<'Subscription'>;
type Association = ApiRecord<'AddonAssociation'>;

const PREVIEW = 'removal-of-addon';

/** A table of the addons that have not ended. Each can be removed, after a preview. Not shown if there are none. */
export function Addons({ subscription }: { readonly subscription: Subscription }) {
  const [removed, setRemoved] = useState<Association | null>(null);
  const mayWrite = useMay('subscription:write');
  const { id, subscription_status: status } = subscription;
  const query = useQuery({
    queryKey: ['subscription', id, 'addons'],
    queryFn: ({ signal }) =>
      answerOf(
        api.GET('/subscriptions/{id}/addons/associations', {
          params: { path: { id }, query: { limit: 1000 } },
          signal,
        }),
      ),
  });
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
          <Removal
            subscription={subscription}
            association={removed}
            onClose={() => setRemoved(null)}
          />
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
  { header: 'From', wideOnly: true, cell: ({ start_date }) => <Day at={start_date} zone={zone} /> },
  { header: 'To', cell: ({ end_date }) => <Day at={end_date} zone={zone} /> },
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

/** The end of an addon with the current period: what it charges or credits, and the button that makes it. */
function Removal({
  subscription,
  association: { id },
  onClose,
}: {
  readonly subscription: Subscription;
  readonly association: Association;
  readonly onClose: () => void;
}) {
  const queries = useQueryClient();
  const preview = useQuery({
    queryKey: [PREVIEW, id],
    queryFn: () =>
      previewOf(subscription.id, {
        type: 'addon',
        addon_params: { action: 'remove', remove: { addon_association_id: id } },
      }),
    gcTime: 0,
  });
  return (
    <Loaded query={preview} what="the preview">
      {(previewed) => (
        <>
          <p>
            The addon ends with the current period, on{' '}
            <Day at={subscription.current_period_end} zone={subscription.customer_timezone} />.
          </p>
          <PreviewedChange
            subscription={subscription}
            preview={previewed}
            confirm="Remove the addon"
            onBack={onClose}
            onDone={async () => {
              onClose();
              notify('The addon ends with the period');
              // The preview has nothing to show any more.
              await queries.invalidateQueries({
                predicate: ({ queryKey }) => queryKey[0] !== PREVIEW,
              });
            }}
          />
        </>
      )}
    </Loaded>
  );
}
