import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { couponPart, couponTerms } from '../../app/billing/coupon-terms.ts';
import { useCustomerTime } from '../../app/customer-time.ts';
import { useMay } from '../../app/person.tsx';
import type { ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { PlainTable, type Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Section } from '../../ui/page.tsx';
import { Day, LastDay } from '../../ui/time.tsx';
import { PreviewedRemoval } from './previewed-removal.tsx';

type Association = ApiRecord<'CouponAssociation'>;

/**
 * A table of the coupons that the subscription has or had, hidden when it is empty. A coupon that has not ended can be
 * removed, after a preview.
 */
export function Coupons({ subscription }: { readonly subscription: ApiRecord<'Subscription'> }) {
  const [removed, setRemoved] = useState<Association | null>(null);
  const mayWrite = useMay('subscription:write');
  const now = useCustomerTime(subscription.customer);
  const { coupon_associations: associations, customer_timezone: zone } = subscription;
  if (associations.length === 0) return null;
  const lines = new Map(subscription.line_items?.map((line) => [line.id, line.display_name]));
  const isRunning = ['active', 'trialing'].includes(subscription.subscription_status);
  const close = (): void => setRemoved(null);
  return (
    <Section title="Coupons">
      <PlainTable
        label="List of coupons"
        rows={associations}
        columns={[
          ...columnsOf(zone, lines),
          ...(mayWrite && isRunning && now !== undefined ? [removeColumn(now, setRemoved)] : []),
        ]}
      />
      <Dialog
        title={`Remove ${removed === null ? 'coupon' : nameOf(removed)}`}
        isOpen={removed !== null}
        onClose={close}
        isWide
      >
        {removed === null ? null : (
          <PreviewedRemoval
            subscription={subscription}
            change={{
              type: 'coupon',
              coupon_params: { action: 'remove', coupon_association_id: removed.id },
            }}
            confirm="Remove the coupon"
            done="The coupon has ended"
            onClose={close}
          >
            <p>The coupon ends now. What is invoiced already keeps its discount.</p>
          </PreviewedRemoval>
        )}
      </Dialog>
    </Section>
  );
}

const nameOf = ({ coupon, coupon_id }: Association): string => coupon?.name ?? coupon_id;

const columnsOf = (
  zone: string,
  lines: ReadonlyMap<string, string | null>,
): readonly Column<Association>[] => [
  {
    header: 'Coupon',
    cell: (row) => (
      <Link to={`/coupons/${row.coupon_id}`}>
        <bdi>{nameOf(row)}</bdi>
      </Link>
    ),
  },
  { header: 'Discount', cell: ({ coupon }) => (coupon === null ? '–' : couponTerms(coupon)) },
  {
    header: 'Applies to',
    wideOnly: true,
    cell: (row) => <bdi>{lines.get(row.subscription_line_item_id ?? '') ?? couponPart(row)}</bdi>,
  },
  {
    header: 'First day',
    wideOnly: true,
    cell: ({ start_date }) => <Day at={start_date} zone={zone} />,
  },
  { header: 'Last day', cell: ({ end_date }) => <LastDay end={end_date} zone={zone} /> },
];

const removeColumn = (now: string, onPress: (row: Association) => void): Column<Association> => ({
  header: 'Remove',
  align: 'end',
  cell: (row) =>
    row.end_date !== null && Date.parse(row.end_date) <= Date.parse(now) ? (
      '–'
    ) : (
      <Button small aria-label={`Remove ${nameOf(row)}`} onPress={() => onPress(row)}>
        Remove
      </Button>
    ),
});
