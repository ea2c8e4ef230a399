import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { billingCycleInWords } from '../app/billing/billing-cycle.ts';
import { InvoiceDocument } from '../app/billing/invoice-document.tsx';
import { rateOf } from '../app/billing/rate-of.ts';
import { Status } from '../ui/badge.tsx';
import { PlainTable } from '../ui/data-table.tsx';
import { Facts } from '../ui/facts.tsx';
import { Quantity } from '../ui/money.tsx';
import { Card, Page, Row, Section, Stack } from '../ui/page.tsx';
import { Loaded } from '../ui/query-state.tsx';
import { formatCurrency, formatWord } from '../ui/text.ts';
import { Day, Period } from '../ui/time.tsx';
import { usePortal } from './portal.ts';
import { nextInvoiceQuery, subscriptionQuery, type Subscription } from './queries.ts';
import { isRunning, planNameOf } from './subscriptions.ts';

/** One subscription: its terms, and the invoice of the running period. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const query = useQuery(subscriptionQuery(id));
  const name = query.data === undefined ? 'Subscription' : planNameOf(query.data);
  return (
    <Page
      title={<bdi>{name}</bdi>}
      documentTitle={name}
      crumbs={[{ label: 'Subscriptions', to: '/subscriptions' }]}
    >
      <Loaded query={query} what="the subscription">
        {(subscription) => <Content subscription={subscription} />}
      </Loaded>
    </Page>
  );
}

function Content({ subscription }: { readonly subscription: Subscription }) {
  const { seller } = usePortal();
  const { customer_timezone: zone, cancel_at } = subscription;
  return (
    <Stack>
      <Row>
        <Status word={subscription.subscription_status} />
        {cancel_at === null ? null : (
          <span>
            Ends on <Day at={cancel_at} zone={zone} />
          </span>
        )}
      </Row>
      <Card>
        <Facts
          of={[
            ['Billing cycle', billingCycleInWords(subscription)],
            [
              'Current period',
              <Period
                key="period"
                start={subscription.current_period_start}
                end={subscription.current_period_end}
                zone={zone}
              />,
            ],
            ['Started', <Day key="started" at={subscription.start_date} zone={zone} />],
            ['Ends', <Day key="end" at={subscription.end_date} zone={zone} />],
            ['Currency', formatCurrency(subscription.currency)],
            ['Time zone', zone],
          ]}
        />
      </Card>
      <p>To change or end the subscription, write to {seller.name}.</p>
      <Section title="What is billed">
        <PlainTable
          label="Line items"
          rows={subscription.line_items ?? []}
          columns={[
            { header: 'Line item', cell: (row) => <bdi>{row.display_name}</bdi> },
            {
              header: 'Billing timing',
              wideOnly: true,
              cell: (row) =>
                `${formatWord(row.billing_period)}, ${row.invoice_cadence === 'ADVANCE' ? 'in advance' : 'in arrears'}`,
            },
            {
              header: 'Price',
              align: 'end',
              cell: ({ price }) => (price === null ? '–' : rateOf(price)),
            },
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
      {isRunning(subscription) ? <NextInvoice subscription={subscription} /> : null}
    </Stack>
  );
}

function NextInvoice({ subscription }: { readonly subscription: Subscription }) {
  const { seller } = usePortal();
  const query = useQuery(nextInvoiceQuery(subscription.id));
  return (
    <Section title="Next invoice">
      <Stack>
        <p>
          Next invoice on{' '}
          <Day at={subscription.current_period_end} zone={subscription.customer_timezone} />. The
          amounts are those of today, as if the period ended now.
        </p>
        <Loaded query={query} what="the next invoice">
          {(invoice) => <InvoiceDocument invoice={invoice} seller={seller.name} />}
        </Loaded>
      </Stack>
    </Section>
  );
}
