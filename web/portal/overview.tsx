import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { FeatureBars } from '../app/billing/feature-bars.tsx';
import { isZero } from '../app/billing/zero.ts';
import { Status } from '../ui/badge.tsx';
import { Figure, Figures } from '../ui/figure.tsx';
import { Money, Quantity } from '../ui/money.tsx';
import { Card, Columns, Page, Row, Section, Stack } from '../ui/page.tsx';
import { EmptyState, Loaded } from '../ui/query-state.tsx';
import { formatCurrency } from '../ui/text.ts';
import { Day } from '../ui/time.tsx';
import { OpenInvoices } from './open-invoices.tsx';
import { usePageLabel, usePortal, useZone } from './portal.ts';
import {
  entitlementsQuery,
  nextInvoiceQuery,
  owedQuery,
  subscriptionsQuery,
  walletsQuery,
  type Subscription,
} from './queries.ts';
import { isRunning, planNameOf } from './subscriptions.ts';

/** What the customer has, owes and will be billed. */
export function View() {
  const { seller, pages } = usePortal();
  const has = (page: string): boolean => pages.some(({ id }) => id === page);
  return (
    <Page
      title={usePageLabel('overview')}
      description={`Your plans, credits and invoices with ${seller.name}.`}
    >
      <Stack>
        <Balances hasInvoices={has('invoices')} hasWallet={has('credits')} />
        {has('invoices') ? <OpenInvoices /> : null}
        <Plans />
        {has('usage') ? <Entitlements /> : null}
      </Stack>
    </Page>
  );
}

function Balances({
  hasInvoices,
  hasWallet,
}: {
  readonly hasInvoices: boolean;
  readonly hasWallet: boolean;
}) {
  const owed = useQuery(owedQuery());
  const wallets = useQuery({ ...walletsQuery(), enabled: hasWallet });
  return (
    <Loaded query={owed} what="what you owe">
      {({ summaries }) => (
        <Figures>
          {summaries.length === 0 ? (
            <Figure label="Amount due" value="Nothing" note="No invoices yet" />
          ) : null}
          {summaries.map((summary) => (
            <Figure
              key={summary.currency}
              label={summaries.length === 1 ? 'Amount due' : `Amount due in ${formatCurrency(summary.currency)}`} // prettier-ignore
              value={<Money amount={summary.total_unpaid_amount} currency={summary.currency} />}
              note={
                isZero(summary.total_overdue_amount) ? (
                  invoicesInWords(summary.unpaid_invoice_count)
                ) : (
                  <>
                    <Money amount={summary.total_overdue_amount} currency={summary.currency} />{' '}
                    overdue
                  </>
                )
              }
              {...(hasInvoices ? { to: '/invoices' } : {})}
            />
          ))}
          {(wallets.data ?? []).map((wallet) => (
            <Figure
              key={wallet.id}
              label={wallet.name === '' ? 'Wallet' : wallet.name}
              value={<Money amount={wallet.balance} currency={wallet.currency} />}
              note={<Quantity value={wallet.credit_balance} unit="credits" />}
              to={`/wallets/${wallet.id}`}
            />
          ))}
        </Figures>
      )}
    </Loaded>
  );
}

const invoicesInWords = (count: number): string =>
  count === 0 ? 'No open invoice' : count === 1 ? '1 open invoice' : `${count} open invoices`;

function Plans() {
  const query = useQuery(subscriptionsQuery());
  return (
    <Section title="Plans">
      <Loaded query={query} what="your plans">
        {({ items }) => {
          const running = items.filter(isRunning);
          return running.length === 0 ? (
            <EmptyState title="No plan at the moment">
              A plan that you subscribe to is shown here with its next invoice.
            </EmptyState>
          ) : (
            <Columns>
              {running.map((subscription) => (
                <Plan key={subscription.id} subscription={subscription} />
              ))}
            </Columns>
          );
        }}
      </Loaded>
    </Section>
  );
}

function Plan({ subscription }: { readonly subscription: Subscription }) {
  const zone = useZone();
  const next = useQuery(nextInvoiceQuery(subscription.id));
  const { cancel_at, current_period_end } = subscription;
  return (
    <Card>
      <Stack>
        <Row>
          <h3>
            <Link to={`/subscriptions/${subscription.id}`}>
              <bdi>{planNameOf(subscription)}</bdi>
            </Link>
          </h3>
          <Status word={subscription.subscription_status} />
        </Row>
        {cancel_at === null ? null : (
          <p>
            Ends on <Day at={cancel_at} zone={zone} />
          </p>
        )}
        <Loaded query={next} what="the next invoice">
          {(invoice) => (
            <p>
              Next invoice on <Day at={current_period_end} zone={zone} />:{' '}
              <strong>
                <Money amount={invoice.amount_due} currency={invoice.currency} />
              </strong>{' '}
              so far
            </p>
          )}
        </Loaded>
      </Stack>
    </Card>
  );
}

function Entitlements() {
  const zone = useZone();
  const query = useQuery(entitlementsQuery());
  return (
    <Loaded query={query} what="your usage">
      {({ features }) =>
        features.length === 0 ? null : (
          <Section title="Included usage" actions={<Link to="/usage">Usage by day</Link>}>
            <FeatureBars features={features} zone={zone} />
          </Section>
        )
      }
    </Loaded>
  );
}
