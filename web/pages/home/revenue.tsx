import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMay } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Figure, Figures } from '../../ui/figure.tsx';
import { Money } from '../../ui/money.tsx';
import { Section, Stack } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { daysAt } from './days.ts';
import { FirstSteps } from './first-steps.tsx';

type Sums = ApiRecord<'DashboardSummary'>['currencies'][number];

/** The sums of this month, for people who may read invoices. */
function useRevenue() {
  const { startOfMonth } = daysAt(Date.now());
  return useQuery({
    queryKey: ['home-revenue', startOfMonth],
    enabled: useMay('invoice:read'),
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/dashboard/summary', {
          body: { start_time: startOfMonth, open_of: 'all' },
          signal,
        }),
      ),
  });
}

/**
 * Whether the revenue is shown, or cannot be. It is the first content of the page. Other figures that take the cores
 * for long wait for it: with 100,000 customers and ten million events they delay it by a second.
 */
export function useAfterRevenue(): boolean {
  const { isEnabled, isFetched, failureCount } = useRevenue();
  return !isEnabled || isFetched || failureCount > 0;
}

/** Recurring revenue, this month's invoices and payments, and what is owed, by currency. */
export function Revenue() {
  const { date, startOfMonth } = daysAt(Date.now());
  const month = { from: startOfMonth.slice(0, 10), to: date };
  const query = useRevenue();
  return (
    <Section
      title="Revenue"
      actions={<Link to="/late-usage">Late usage of finalized invoices</Link>}
    >
      <Loaded query={query} what="revenue">
        {({ currencies }) =>
          currencies.length === 0 ? (
            <NothingBilled />
          ) : (
            <Stack>
              {currencies.map((sums) => (
                <OfCurrency key={sums.currency} sums={sums} month={month} />
              ))}
            </Stack>
          )
        }
      </Loaded>
    </Section>
  );
}

/** The first steps for people who may take them. */
function NothingBilled() {
  const mayDoAll = useMay(
    'meter:write',
    'plan:write',
    'price:write',
    'customer:write',
    'subscription:write',
    'event:read',
  );
  if (mayDoAll) return <FirstSteps />;
  return (
    <EmptyState title="No revenue this month">
      No subscription is active, no invoice is open, and nothing was invoiced this month. Meters
      count events, plans set prices, and subscriptions bill customers.
    </EmptyState>
  );
}

function OfCurrency({
  sums,
  month,
}: {
  readonly sums: Sums;
  readonly month: { readonly from: string; readonly to: string };
}) {
  const { currency } = sums;
  const money = (amount: string) => <Money amount={amount} currency={currency} />;
  return (
    <Figures>
      <Figure
        label="MRR"
        value={money(sums.mrr)}
        note="monthly recurring revenue of active subscriptions"
        to="/subscriptions"
        search={{ subscription_status: 'active', currency }}
      />
      <Figure
        label="Invoiced this month"
        value={money(sums.invoiced_amount)}
        note={counted(sums.invoiced_count, 'invoice')}
        to="/invoices"
        search={{
          invoice_status: 'FINALIZED',
          issued_from: month.from,
          issued_to: month.to,
          currency,
        }}
      />
      <Figure
        label="Collected this month"
        value={money(sums.collected_amount)}
        note={counted(sums.collected_count, 'payment')}
        to="/payments"
        search={{ show: 'collected', from: month.from, to: month.to, currency }}
      />
      <Figure
        label="Open"
        value={money(sums.open_amount)}
        note={counted(sums.open_count, 'invoice')}
        to="/invoices"
        search={{ show: 'open', currency }}
      />
      <Figure
        label="Overdue"
        value={money(sums.overdue_amount)}
        note={counted(sums.overdue_count, 'invoice')}
        to="/invoices"
        search={{ show: 'overdue', currency }}
      />
    </Figures>
  );
}

const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
