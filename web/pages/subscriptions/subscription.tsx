import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { billingCycleInWords } from '../../app/billing/billing-cycle.ts';
import { InvoicePreview } from '../../app/billing/invoice-preview.tsx';
import { rateOf } from '../../app/billing/rate-of.ts';
import { TimelineLater } from '../../app/billing/timeline-later.tsx';
import { TaxesOf } from '../../app/taxes/taxes-of.tsx';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Id } from '../../ui/code-block.tsx';
import { PlainTable } from '../../ui/data-table.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Quantity } from '../../ui/money.tsx';
import { Card, Page, Row, Section, Stack } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { formatCurrency, formatWord } from '../../ui/text.ts';
import { Day, LastDay, Period, Time } from '../../ui/time.tsx';
import { useUrlState } from '../../ui/url-state.ts';
import { SubscriptionActions } from './actions.tsx';
import { Addons } from './addons.tsx';
import { Coupons } from './coupons.tsx';
import { Entitlements } from './entitlements.tsx';
import { SpendAlerts } from './spend-alerts.tsx';
import { TermLine } from './term-line.tsx';

type Subscription = ApiRecord<'Subscription'>;

const STATE = { tab: 'terms' };

/** One subscription: its terms, the invoice of the running period, and its history. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const query = useQuery({
    queryKey: ['subscription', id],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/subscriptions/{id}', { params: { path: { id } }, signal })),
  });
  const subscription = query.data;
  return (
    <Page
      title={<bdi>{subscription?.plan?.name ?? 'Subscription'}</bdi>}
      documentTitle={subscription?.plan?.name ?? 'Subscription'}
      crumbs={[{ label: 'Subscriptions', to: '/subscriptions' }]}
      description={
        subscription === undefined ? undefined : (
          <Link to={`/customers/${subscription.customer_id}`}>
            <bdi>{subscription.customer?.name ?? subscription.customer_id}</bdi>
          </Link>
        )
      }
      actions={
        subscription === undefined ? undefined : <SubscriptionActions subscription={subscription} />
      }
    >
      <Loaded query={query} what="the subscription">
        {(data) => <Content subscription={data} />}
      </Loaded>
    </Page>
  );
}

function Content({ subscription }: { readonly subscription: Subscription }) {
  const [state, setState] = useUrlState(STATE);
  const { id, customer_timezone: zone } = subscription;
  return (
    <Stack>
      <Row>
        <Status word={subscription.subscription_status} />
        {subscription.cancel_at === null ? null : (
          <span>
            Ends on <Day at={subscription.cancel_at} zone={zone} />
          </span>
        )}
        {subscription.billing_refusal === null ? null : (
          <span>{subscription.billing_refusal.message}</span>
        )}
      </Row>
      <Tabs
        label="Parts of the subscription"
        chosen={state.tab}
        onChoose={(tab) => setState({ tab })}
        tabs={[
          { id: 'terms', label: 'Terms', content: () => <Terms subscription={subscription} /> },
          {
            id: 'preview',
            label: 'Next invoice',
            content: () => (
              <Stack>
                <p>
                  Next invoice on <Day at={subscription.current_period_end} zone={zone} />. The
                  amounts are those of today, as if the period ended now.
                </p>
                <InvoicePreview subscriptionId={id} />
              </Stack>
            ),
          },
          {
            id: 'timeline',
            label: 'Timeline',
            content: () => (
              <TimelineLater
                of={{ subscription_id: id }}
                zone={zone}
                isOnTestClock={(subscription.customer?.test_clock_id ?? null) !== null}
              />
            ),
          },
        ]}
      />
    </Stack>
  );
}

function Terms({ subscription }: { readonly subscription: Subscription }) {
  const zone = subscription.customer_timezone;
  return (
    <Stack>
      <Section title="Schedule">
        <TermLine subscription={subscription} />
      </Section>
      <Section title="Line items">
        <PlainTable
          label="List of line items"
          rows={subscription.line_items ?? []}
          columns={[
            { header: 'Line item', cell: (row) => <bdi>{row.display_name}</bdi> },
            { header: 'Type', cell: ({ price_type }) => formatWord(price_type) },
            { header: 'Billing timing', wideOnly: true, cell: (row) => `${formatWord(row.billing_period)}, ${row.invoice_cadence === 'ADVANCE' ? 'in advance' : 'in arrears'}` }, // prettier-ignore
            {
              header: 'Price',
              cell: ({ price, entity_type, entity_id }) =>
                price === null ? (
                  '–'
                ) : entity_type !== 'subscription' ? (
                  <Link to={`/${entity_type}s/${entity_id}`} search={{ price: price.id } as never}>
                    {rateOf(price)}
                  </Link>
                ) : (
                  rateOf(price)
                ),
            },
            { header: 'First day', wideOnly: true, cell: ({ start_date }) => <Day at={start_date} zone={zone} /> }, // prettier-ignore
            { header: 'Last day', wideOnly: true, cell: ({ end_date }) => <LastDay end={end_date} zone={zone} /> }, // prettier-ignore
            {
              header: 'Quantity',
              align: 'end',
              isWhole: true,
              cell: (row) =>
                row.price_type === 'USAGE' ? 'by usage' : <Quantity value={row.quantity} />,
            },
          ]}
        />
      </Section>
      <Addons subscription={subscription} />
      <Coupons subscription={subscription} />
      <TaxesOf entity={{ entity_type: 'subscription', entity_id: subscription.id }} zone={zone}>
        The taxes of the customer apply; if it has none, the taxes that are set for all customers.
      </TaxesOf>
      <Allowed to="entitlement:read">
        <Entitlements subscription={subscription} />
      </Allowed>
      <SpendAlerts subscription={subscription} />
      <Section title="Details">
        <Card>
          <Facts
            of={[
              ['Id', <Id of={subscription.id} />],
              ['Billing cycle', billingCycleInWords(subscription)],
              [
                'Current period',
                <Period
                  start={subscription.current_period_start}
                  end={subscription.current_period_end}
                  zone={zone}
                />,
              ],
              ['Currency', formatCurrency(subscription.currency)],
              ['Invoices', formatWord(subscription.collection_method)],
              ['Payment terms', subscription.payment_terms ?? ''],
              ['Time zone', zone],
              ['Started', <Time at={subscription.start_date} zone={zone} />],
              ['Ends', <Time at={subscription.end_date} zone={zone} />],
            ]}
          />
        </Card>
      </Section>
      <Row>
        <ButtonLink to="/invoices" search={{ subscription_id: subscription.id } as never} small>
          Invoices of the subscription
        </ButtonLink>
      </Row>
    </Stack>
  );
}
