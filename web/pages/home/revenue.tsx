import { useQuery } from '@tanstack/react-query';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Figure, Figures } from '../../ui/figure.tsx';
import { Money } from '../../ui/money.tsx';
import { Section, Stack } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { daysAt } from './days.ts';

type Sums = ApiRecord<'DashboardSummary'>['currencies'][number];

/** Recurring revenue, this month's invoices and payments, and what is owed, by currency. */
export function Revenue() {
  const { date, startOfMonth } = daysAt(Date.now());
  const month = { from: startOfMonth.slice(0, 10), to: date };
  const query = useQuery({
    queryKey: ['home-revenue', startOfMonth],
    queryFn: async ({ signal }) => {
      const [all, ofMonth] = await Promise.all([
        answerOf(api.POST('/dashboard/summary', { body: {}, signal })),
        answerOf(api.POST('/dashboard/summary', { body: { start_time: startOfMonth }, signal })),
      ]);
      const found = new Map(ofMonth.currencies.map((sums) => [sums.currency, sums]));
      return all.currencies.map((sums) => ({ all: sums, ofMonth: found.get(sums.currency) }));
    },
  });
  return (
    <Section title="Revenue">
      <Loaded query={query} what="revenue">
        {(currencies) =>
          currencies.length === 0 ? (
            <NothingBilled />
          ) : (
            <Stack>
              {currencies.map(({ all, ofMonth }) => (
                <OfCurrency key={all.currency} all={all} ofMonth={ofMonth ?? null} month={month} />
              ))}
            </Stack>
          )
        }
      </Loaded>
    </Section>
  );
}

function NothingBilled() {
  return (
    <EmptyState
      title="No revenue yet"
      action={
        <ButtonLink to="/plans" tone="primary">
          Go to plans
        </ButtonLink>
      }
    >
      Meters count events, plans set prices, and subscriptions bill customers. Revenue appears here
      with the first subscription.
    </EmptyState>
  );
}

function OfCurrency({
  all,
  ofMonth,
  month,
}: {
  readonly all: Sums;
  readonly ofMonth: Sums | null;
  readonly month: { readonly from: string; readonly to: string };
}) {
  const { currency } = all;
  const money = (amount: string) => <Money amount={amount} currency={currency} />;
  return (
    <Figures>
      <Figure
        label="MRR"
        value={money(all.mrr)}
        note="of active subscriptions"
        to="/subscriptions"
        search={{ subscription_status: 'active', currency }}
      />
      <Figure
        label="Invoiced this month"
        value={money(ofMonth?.invoiced_amount ?? '0')}
        note={counted(ofMonth?.invoiced_count ?? 0, 'invoice')}
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
        value={money(ofMonth?.collected_amount ?? '0')}
        note={counted(ofMonth?.collected_count ?? 0, 'payment')}
        to="/payments"
        search={{ show: 'collected', from: month.from, to: month.to, currency }}
      />
      <Figure
        label="Open"
        value={money(all.open_amount)}
        note={counted(all.open_count, 'invoice')}
        to="/invoices"
        search={{ show: 'open', currency }}
      />
      <Figure
        label="Overdue"
        value={money(all.overdue_amount)}
        note={counted(all.overdue_count, 'invoice')}
        to="/invoices"
        search={{ show: 'overdue', currency }}
      />
    </Figures>
  );
}

const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
