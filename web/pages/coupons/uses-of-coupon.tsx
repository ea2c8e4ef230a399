import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { couponPart } from '../../app/billing/coupon-terms.ts';
import { useSubscriptionNames } from '../../app/billing/subscription-name.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { useListState } from '../../ui/list-state.ts';
import { EmptyState } from '../../ui/query-state.tsx';
import { Day, LastDay } from '../../ui/time.tsx';

type Association = ApiRecord<'CouponAssociation'>;

const columnsOf = (names: ReadonlyMap<string, string>): readonly Column<Association>[] => [
  {
    header: 'Subscription',
    cell: ({ subscription_id: id }) => <bdi>{names.get(id) ?? id}</bdi>,
  },
  { header: 'Applies to', wideOnly: true, cell: couponPart },
  { header: 'First day', cell: ({ start_date }) => <Day at={start_date} /> },
  { header: 'Last day', cell: ({ end_date }) => <LastDay end={end_date} /> },
];

/** The subscriptions that have the coupon or had it, page by page. */
export function UsesOfCoupon({ couponId }: { readonly couponId: string }) {
  const list = useListState({});
  const query = useQuery({
    queryKey: ['coupon', couponId, 'uses', list.paging],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/coupons/associations/search', {
          body: { ...list.paging, coupon_ids: [couponId] },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
  const names = useSubscriptionNames(query.data?.items.map((row) => row.subscription_id) ?? []);
  return (
    <DataTable
      label="Subscriptions with the coupon"
      query={query}
      list={list}
      columns={columnsOf(names)}
      rowTo={({ subscription_id }) => `/subscriptions/${subscription_id}`}
      empty={
        <EmptyState
          title="No subscription has it"
          action={<ButtonLink to="/subscriptions">Go to subscriptions</ButtonLink>}
        >
          Add it on the page of a subscription: you see what it changes before it begins.
        </EmptyState>
      }
    />
  );
}
