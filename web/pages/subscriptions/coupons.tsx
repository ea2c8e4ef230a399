import { Link } from '@tanstack/react-router';
import { couponPart, couponTerms } from '../../app/billing/coupon-terms.ts';
import type { ApiRecord } from '../../client/api.ts';
import { PlainTable, type Column } from '../../ui/data-table.tsx';
import { Section } from '../../ui/page.tsx';
import { Day } from '../../ui/time.tsx';

type Association = ApiRecord<'CouponAssociation'>;

/** A table of the coupons that the subscription has or had. Not shown if there are none. */
export function Coupons({ subscription }: { readonly subscription: ApiRecord<'Subscription'> }) {
  const { coupon_associations: associations, customer_timezone: zone } = subscription;
  if (associations.length === 0) return null;
  const lines = new Map(subscription.line_items?.map((line) => [line.id, line.display_name]));
  return (
    <Section title="Coupons">
      <PlainTable label="List of coupons" rows={associations} columns={columnsOf(zone, lines)} />
    </Section>
  );
}

const columnsOf = (
  zone: string,
  lines: ReadonlyMap<string, string | null>,
): readonly Column<Association>[] => [
  {
    header: 'Coupon',
    cell: ({ coupon, coupon_id }) => (
      <Link to={`/coupons/${coupon_id}`}>
        <bdi>{coupon?.name ?? coupon_id}</bdi>
      </Link>
    ),
  },
  { header: 'Discount', cell: ({ coupon }) => (coupon === null ? '–' : couponTerms(coupon)) },
  {
    header: 'Applies to',
    wideOnly: true,
    cell: (row) => <bdi>{lines.get(row.subscription_line_item_id ?? '') ?? couponPart(row)}</bdi>,
  },
  { header: 'From', wideOnly: true, cell: ({ start_date }) => <Day at={start_date} zone={zone} /> },
  { header: 'To', cell: ({ end_date }) => <Day at={end_date} zone={zone} /> },
];
