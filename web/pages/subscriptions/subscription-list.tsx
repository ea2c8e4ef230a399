import { Plus } from 'lucide-react';
import { choice, currency, given, linked } from '../../app/list/filters.tsx';
import type { FileColumn } from '../../app/list/list-file.tsx';
import { ListPage, listOf } from '../../app/list/list-page.tsx';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Day, Period } from '../../ui/time.tsx';
import { SUBSCRIPTION_STATUSES } from '../../../schemas/words.ts';

type Subscription = ApiRecord<'Subscription'>;

const FILTERS = [
  choice(
    'subscription_status',
    'Status',
    SUBSCRIPTION_STATUSES.map((word) => [word, formatWord(word)] as const),
  ),
  currency,
  linked('plan_id'),
  linked('addon_id'),
  linked('customer_id'),
];

type Filters = Readonly<Record<(typeof FILTERS)[number]['key'], string>>;

const COLUMNS: readonly Column<Subscription>[] = [
  { header: 'Customer', cell: ({ customer, customer_id }) => <bdi>{customer?.name ?? customer_id}</bdi> }, // prettier-ignore
  { header: 'Plan', cell: ({ plan, plan_id }) => <bdi>{plan?.name ?? plan_id}</bdi> },
  { header: 'Status', cell: (row) => <Status word={row.subscription_status} /> },
  { header: 'Billing period', wideOnly: true, cell: (row) => formatWord(row.billing_period) },
  {
    header: 'Current period',
    sort: 'current_period_end',
    wideOnly: true,
    cell: (row) => (
      <Period
        start={row.current_period_start}
        end={row.current_period_end}
        zone={row.customer_timezone}
      />
    ),
  },
  {
    header: 'Started',
    sort: 'start_date',
    wideOnly: true,
    cell: (row) => <Day at={row.start_date} zone={row.customer_timezone} />,
  },
];

const FILE: readonly FileColumn<Subscription>[] = [
  ['customer', ({ customer }) => customer?.name ?? null],
  ['external_customer_id', ({ customer }) => customer?.external_id ?? null],
  ['plan', ({ plan }) => plan?.name ?? null],
  ['status', (row) => row.subscription_status],
  ['billing_period', (row) => row.billing_period],
  ['current_period_start', (row) => row.current_period_start],
  ['current_period_end', (row) => row.current_period_end],
  ['started', (row) => row.start_date],
  ['cancels', (row) => row.cancel_at],
  ['currency', ({ currency }) => currency],
  ['id', ({ id }) => id],
];

const SUBSCRIPTIONS = listOf({
  name: 'subscriptions',
  title: 'Subscriptions',
  filters: FILTERS,
  search: (paging, filters: Filters, signal) =>
    answerOf(
      api.POST('/subscriptions/search', { body: { ...paging, ...bodyOf(filters) }, signal }),
    ),
  columns: COLUMNS,
  file: FILE,
  rowTo: ({ id }) => `/subscriptions/${id}`,
  unmatched: {
    title: 'No subscription matches',
    advice: 'Choose another status, or clear the filters.',
  },
});

/** Every subscription, with filters that a link carries. */
export function View() {
  const create = (
    <Allowed to="subscription:write">
      <ButtonLink to="/subscriptions/new" tone="primary" icon={<Plus size={14} aria-hidden />}>
        New subscription
      </ButtonLink>
    </Allowed>
  );
  return (
    <ListPage
      list={SUBSCRIPTIONS}
      actions={create}
      empty={
        <EmptyState title="No subscriptions yet" action={create}>
          A subscription puts a customer on a plan. You see a preview of its invoice before it
          starts.
        </EmptyState>
      }
    />
  );
}

const bodyOf = ({ subscription_status, plan_id, addon_id, customer_id, ...filters }: Filters) => ({
  expand: ['plan', 'customer'],
  ...given({ plan_id, addon_id, customer_id }),
  // Without statuses the API lists active subscriptions only.
  subscription_status:
    subscription_status === ''
      ? [...SUBSCRIPTION_STATUSES]
      : [subscription_status as Subscription['subscription_status']],
  filters:
    filters.currency === ''
      ? []
      : [{ field: 'currency', operator: 'eq' as const, value: { string: filters.currency } }],
});
