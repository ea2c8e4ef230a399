import { useQuery } from '@tanstack/react-query';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Row, Section, Stack } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { Period } from '../../ui/time.tsx';
import { SUBSCRIPTION_STATUSES } from '../../../schemas/words.ts';

const SHOWN = 10;

const COLUMNS: readonly Column<ApiRecord<'Subscription'>>[] = [
  { header: 'Customer', cell: ({ customer, customer_id }) => <bdi>{customer?.name ?? customer_id}</bdi> }, // prettier-ignore
  { header: 'Plan', cell: ({ plan, plan_id }) => <bdi>{plan?.name ?? plan_id}</bdi> },
  { header: 'Status', cell: (row) => <Status word={row.subscription_status} /> },
  {
    header: 'Current period',
    wideOnly: true,
    cell: ({ current_period_start: start, current_period_end: end, customer_timezone: zone }) => (
      <Period start={start} end={end} zone={zone} />
    ),
  },
];

/** The newest subscriptions that have the addon, and a link to all of them. */
export function SubscriptionsOfAddon({ addonId }: { readonly addonId: string }) {
  const query = useQuery({
    queryKey: ['addon', addonId, 'subscriptions'],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/subscriptions/search', {
          body: {
            addon_id: addonId,
            subscription_status: [...SUBSCRIPTION_STATUSES],
            expand: ['plan', 'customer'],
            limit: SHOWN,
          },
          signal,
        }),
      ),
  });
  const total = query.data?.pagination.total ?? 0;
  return (
    <Section title="Subscriptions">
      <Stack>
        <DataTable
          label="Subscriptions with the addon"
          query={query}
          columns={COLUMNS}
          rowTo={({ id }) => `/subscriptions/${id}`}
          empty={
            <EmptyState
              title="No subscription has it"
              action={<ButtonLink to="/subscriptions">Go to subscriptions</ButtonLink>}
            >
              Add it on the page of a subscription: you see what it charges before it begins.
            </EmptyState>
          }
        />
        {total === 0 ? null : (
          <Row>
            <ButtonLink to="/subscriptions" search={{ addon_id: addonId } as never} small>
              Subscriptions with the addon ({total.toLocaleString('en-US')})
            </ButtonLink>
          </Row>
        )}
      </Stack>
    </Section>
  );
}
