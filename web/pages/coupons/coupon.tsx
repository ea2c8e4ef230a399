import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { couponTerms } from '../../app/billing/coupon-terms.ts';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { Id } from '../../ui/code-block.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Card, Page, Section, Stack } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { Time } from '../../ui/time.tsx';
import { CouponActions } from './coupon-actions.tsx';
import { redemptionsOf } from './redemptions.ts';
import { UsesOfCoupon } from './uses-of-coupon.tsx';

/** One coupon: its terms, and the subscriptions that have it. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const query = useQuery({
    queryKey: ['coupon', id],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/coupons/{id}', { params: { path: { id } }, signal })),
  });
  const coupon = query.data;
  return (
    <Page
      title={<bdi>{coupon?.name ?? 'Coupon'}</bdi>}
      documentTitle={coupon?.name ?? 'Coupon'}
      crumbs={[{ label: 'Coupons', to: '/coupons' }]}
      description={coupon === undefined ? undefined : couponTerms(coupon)}
      actions={coupon === undefined ? undefined : <CouponActions coupon={coupon} />}
    >
      <Loaded query={query} what="the coupon">
        {(data) => <Terms coupon={data} />}
      </Loaded>
      <Allowed to="subscription:read">
        <Section title="Subscriptions" isHidden={query.isPending}>
          <UsesOfCoupon couponId={id} />
        </Section>
      </Allowed>
    </Page>
  );
}

function Terms({ coupon }: { readonly coupon: ApiRecord<'Coupon'> }) {
  return (
    <Stack>
      <Section title="Details">
        <Card>
          <Facts
            of={[
              ['Code', coupon.coupon_code === null ? '' : <code>{coupon.coupon_code}</code>],
              ['Discount', couponTerms(coupon)],
              ['Redemptions', redemptionsOf(coupon)],
              ['Redeemable from', <Time at={coupon.redeem_after} />],
              ['Redeemable before', <Time at={coupon.redeem_before} />],
              ['Status', <Status word={coupon.status} />],
              ['Created', <Time at={coupon.created_at} />],
              ['Metadata', <bdi>{Object.entries(coupon.metadata).map(([k, v]) => `${k}: ${v}`).join(', ') || '–'}</bdi>], // prettier-ignore
              ['Id', <Id of={coupon.id} />],
            ]}
          />
        </Card>
      </Section>
    </Stack>
  );
}
