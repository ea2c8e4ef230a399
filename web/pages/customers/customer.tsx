import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { TimelineLater } from '../../app/billing/timeline-later.tsx';
import { Allowed } from '../../app/person.tsx';
import { TestClockName } from '../../app/test-clock-name.tsx';
import { customerQuery } from '../../app/customer-query.ts';
import { TaxesOf } from '../../app/taxes/taxes-of.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Id } from '../../ui/code-block.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Figure, Figures } from '../../ui/figure.tsx';
import { Money } from '../../ui/money.tsx';
import { Card, Columns, Page, Section, Stack } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { formatCurrency, formatWord } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { useUrlState } from '../../ui/url-state.ts';
import { Invoices, Payments, Subscriptions, Wallets } from './customer-lists.tsx';
import { DeleteCustomer } from './delete-customer.tsx';
import { EventVolume } from './event-volume.tsx';
import { Entitlements } from './entitlements.tsx';
import { PortalLink } from './portal-link.tsx';
import { UsageChart } from './usage-chart.tsx';

type Customer = ApiRecord<'Customer'>;

const STATE = { tab: 'overview' };

/** One customer: contract, usage, invoices, wallets, payments and history. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const query = useQuery(customerQuery(id));
  return (
    <Page
      title={<bdi>{query.data?.name ?? 'Customer'}</bdi>}
      documentTitle={query.data?.name ?? 'Customer'}
      crumbs={[{ label: 'Customers', to: '/customers' }]}
      actions={
        query.data?.status !== 'published' ? null : (
          <>
            <Allowed to="customer:write">
              <ButtonLink to={`/customers/${id}/edit`}>Edit</ButtonLink>
              <PortalLink externalId={query.data.external_id} />
              <DeleteCustomer customer={query.data} />
            </Allowed>
            <Allowed to="invoice:write">
              <ButtonLink to="/invoices/new" search={{ customer_id: id } as never}>
                New invoice
              </ButtonLink>
            </Allowed>
            <Allowed to="subscription:write">
              <ButtonLink
                to="/subscriptions/new"
                search={{ customer_id: id } as never}
                tone="primary"
                icon={<Plus size={14} aria-hidden />}
              >
                New subscription
              </ButtonLink>
            </Allowed>
          </>
        )
      }
    >
      <Loaded query={query} what="the customer">
        {(customer) => <Content customer={customer} />}
      </Loaded>
    </Page>
  );
}

function Content({ customer }: { readonly customer: Customer }) {
  const [state, setState] = useUrlState(STATE);
  const { id, timezone: zone } = customer;
  return (
    <Tabs
      label="Parts of the customer"
      chosen={state.tab}
      onChoose={(tab) => setState({ tab })}
      tabs={[
        { id: 'overview', label: 'Overview', content: () => <Overview customer={customer} /> },
        {
          id: 'usage',
          label: 'Usage',
          content: () => (
            <Stack>
              <UsageChart customer={customer} />
              <Section title="Usage against entitlements">
                <Entitlements customerId={id} zone={zone} />
              </Section>
            </Stack>
          ),
        },
        {
          id: 'subscriptions',
          label: 'Subscriptions',
          content: () => <Subscriptions customerId={id} zone={zone} />,
        },
        {
          id: 'invoices',
          label: 'Invoices',
          content: () => <Invoices customerId={id} zone={zone} />,
        },
        { id: 'wallets', label: 'Wallets', content: () => <Wallets customerId={id} /> },
        {
          id: 'payments',
          label: 'Payments',
          content: () => <Payments customerId={id} zone={zone} />,
        },
        {
          id: 'timeline',
          label: 'Timeline',
          content: () => (
            <Stack>
              <EventVolume customer={customer} />
              <Section title="Changes, notifications and invoices">
                <TimelineLater
                  of={{ customer_id: id }}
                  zone={zone}
                  isOnTestClock={customer.test_clock_id !== null}
                />
              </Section>
            </Stack>
          ),
        },
      ]}
    />
  );
}

function Overview({ customer }: { readonly customer: Customer }) {
  const { id, timezone: zone } = customer;
  return (
    <Stack>
      <Billed customerId={id} />
      <Columns>
        <Section title="Subscriptions">
          <Subscriptions customerId={id} zone={zone} />
        </Section>
        <Section title="Details">
          <Card>
            <Facts
              of={[
                ['External id', <code>{customer.external_id}</code>],
                ['Id', <Id of={id} />],
                ...(customer.status === 'published'
                  ? []
                  : [['Status', <Status word={customer.status} />] as const]),
                ['E-mail', customer.email],
                ['Address', addressOf(customer) === '' ? '' : <bdi>{addressOf(customer)}</bdi>],
                ['Time zone', zone],
                ['Currency', formatCurrency(customer.billing_currency ?? '')],
                ...(customer.test_clock_id === null
                  ? []
                  : [['Test clock', <TestClockName id={customer.test_clock_id} />] as const]),
                ['Tax', formatWord(customer.tax_treatment)],
                ['Created', <Time at={customer.created_at} zone={zone} />],
                ['Metadata', Object.entries(customer.metadata).map(([k, v]) => `${k}: ${v}`).join(', ')], // prettier-ignore
              ]}
            />
          </Card>
        </Section>
      </Columns>
      <Section title="Usage against entitlements">
        <Entitlements customerId={id} zone={zone} />
      </Section>
      <TaxesOf entity={{ entity_type: 'customer', entity_id: id }} zone={zone}>
        {customer.tax_treatment === 'exempt'
          ? 'The customer is exempt: its invoices have no tax.'
          : 'The taxes that are set for all customers apply.'}
      </TaxesOf>
    </Stack>
  );
}

const addressOf = (customer: Customer): string =>
  [
    customer.address_line1,
    customer.address_line2,
    [customer.address_postal_code, customer.address_city].filter(Boolean).join(' '),
    customer.address_state,
    customer.address_country,
  ]
    .filter(Boolean)
    .join(', ');

function Billed({ customerId }: { readonly customerId: string }) {
  const query = useQuery({
    queryKey: ['customer-billed', customerId],
    queryFn: ({ signal }) =>
      answerOf(
        api.GET('/customers/{id}/invoices/summary', {
          params: { path: { id: customerId } },
          signal,
        }),
      ),
  });
  return (
    <Loaded query={query} what="amounts">
      {({ summaries }) => (
        <>
          {summaries.map((sums) => (
            <Figures key={sums.currency}>
              <Figure
                label="Billed"
                value={<Money amount={sums.total_revenue_amount} currency={sums.currency} />}
                note={invoices(sums.total_invoice_count)}
                to="/invoices"
                search={{ customer_id: customerId, invoice_status: 'FINALIZED' }}
              />
              <Figure
                label="Amount due"
                value={<Money amount={sums.total_unpaid_amount} currency={sums.currency} />}
                note={invoices(sums.unpaid_invoice_count)}
                to="/invoices"
                search={{ customer_id: customerId, show: 'open' }}
              />
              <Figure
                label="Overdue"
                value={<Money amount={sums.total_overdue_amount} currency={sums.currency} />}
                note={invoices(sums.overdue_invoice_count)}
                to="/invoices"
                search={{ customer_id: customerId, show: 'overdue' }}
              />
            </Figures>
          ))}
        </>
      )}
    </Loaded>
  );
}

const invoices = (count: number): string => (count === 1 ? '1 invoice' : `${count} invoices`);
