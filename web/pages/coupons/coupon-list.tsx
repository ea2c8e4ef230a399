import { Plus } from 'lucide-react';
import { couponTerms } from '../../app/billing/coupon-terms.ts';
import { choice, contains, text } from '../../app/list/filters.tsx';
import { ListPage, listOf } from '../../app/list/list-page.tsx';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Narrow, type Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { Day } from '../../ui/time.tsx';
import { useUrlState } from '../../ui/url-state.ts';
import { NewCoupon } from './new-coupon.tsx';
import { redemptionsOf } from './redemptions.ts';

type Coupon = ApiRecord<'Coupon'>;

/** `new` opens the form of a new coupon. */
const STATE = { form: '' };

const COLUMNS: readonly Column<Coupon>[] = [
  {
    header: 'Coupon',
    sort: 'name',
    cell: ({ name, coupon_code, status }) => (
      <>
        <bdi>{name}</bdi>
        {coupon_code === null ? null : (
          <Narrow>
            <code>{coupon_code}</code>
          </Narrow>
        )}
        {status === 'archived' ? (
          <Narrow>
            <Status word={status} />
          </Narrow>
        ) : null}
      </>
    ),
  },
  {
    header: 'Code',
    wideOnly: true,
    cell: ({ coupon_code }) => (coupon_code === null ? '–' : <code>{coupon_code}</code>),
  },
  { header: 'Discount', cell: couponTerms },
  { header: 'Status', wideOnly: true, cell: ({ status }) => <Status word={status} /> },
  {
    header: 'Redeemable before',
    sort: 'redeem_before',
    wideOnly: true,
    cell: ({ redeem_before }) => <Day at={redeem_before} />,
  },
  {
    header: 'Created',
    sort: 'created_at',
    wideOnly: true,
    cell: ({ created_at }) => <Day at={created_at} />,
  },
  { header: 'Redemptions', sort: 'total_redemptions', align: 'end', cell: redemptionsOf },
];

const COUPONS = listOf({
  name: 'coupons',
  title: 'Coupons',
  description: 'Discounts that a subscription or an invoice may have.',
  filters: [
    text('q', 'Search by name'),
    choice('status', 'Status', [
      ['published', 'Published'],
      ['archived', 'Archived'],
    ]),
    choice('type', 'Discount', [
      ['percentage', 'Percentage'],
      ['fixed', 'Fixed amount'],
    ]),
  ],
  search: (paging, { q, status, type }, signal) =>
    answerOf(
      api.POST('/coupons/search', {
        body: {
          ...paging,
          ...(status === '' ? {} : { status: status as Coupon['status'] }),
          filters: [
            ...contains('name', q),
            ...(type === ''
              ? []
              : [{ field: 'type', operator: 'eq' as const, value: { string: type } }]),
          ],
        },
        signal,
      }),
    ),
  columns: COLUMNS,
  file: [
    ['coupon', ({ name }) => name],
    ['code', (row) => row.coupon_code],
    ['type', ({ type }) => type],
    ['percentage_off', (row) => row.percentage_off],
    ['amount_off', (row) => row.amount_off],
    ['currency', ({ currency }) => currency],
    ['cadence', ({ cadence }) => cadence],
    ['duration_in_periods', (row) => textOf(row.duration_in_periods)],
    ['redemptions', (row) => textOf(row.total_redemptions)],
    ['max_redemptions', (row) => textOf(row.max_redemptions)],
    ['redeem_after', (row) => row.redeem_after],
    ['redeem_before', (row) => row.redeem_before],
    ['status', ({ status }) => status],
    ['created', (row) => row.created_at],
    ['id', ({ id }) => id],
  ],
  rowTo: ({ id }) => `/coupons/${id}`,
  unmatched: { title: 'No coupon matches' },
});

const textOf = (count: number | null): string | null => (count === null ? null : String(count));

/** The coupons of the catalog; archived ones by the filter. */
export function View() {
  const [{ form }, setState] = useUrlState(STATE);
  const create = (
    <Allowed to="coupon:write">
      <Button
        tone="primary"
        icon={<Plus size={14} aria-hidden />}
        onPress={() => setState({ form: 'new' })}
      >
        New coupon
      </Button>
    </Allowed>
  );
  return (
    <ListPage
      list={COUPONS}
      actions={create}
      empty={
        <EmptyState title="No coupons yet" action={create}>
          A coupon takes a percentage or an amount off the invoices of a subscription: once, for
          some periods, or in each period.
        </EmptyState>
      }
    >
      <Dialog title="New coupon" isOpen={form === 'new'} onClose={() => setState({ form: '' })}>
        <NewCoupon />
      </Dialog>
    </ListPage>
  );
}
