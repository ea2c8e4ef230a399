import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { TimeChart } from '../../ui/chart.tsx';
import { Card, Section, Stack } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { formatCurrency } from '../../ui/text.ts';
import { useAfterRevenue } from './revenue.tsx';

const MONTHS = 12;

type Windows =
  ApiRecord<'Revenues'>['revenue_trend']['currency_revenue_windows'][string]['windows'];

/** Issued revenue of the last months, one chart for each currency. */
export function RevenueByMonth() {
  const query = useQuery({
    queryKey: ['home-revenue-by-month'],
    enabled: useAfterRevenue(),
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/dashboard/revenues', {
          body: { revenue_trend: { window_count: MONTHS } },
          signal,
        }),
      ),
  });
  return (
    <Loaded query={query} what="revenue by month">
      {({ revenue_trend }) => {
        const currencies = Object.entries(revenue_trend.currency_revenue_windows);
        return currencies.length === 0 ? null : (
          <Section title="Invoiced revenue by month, before tax">
            <Stack>
              {currencies.map(([currency, { windows }]) => (
                <Months key={currency} currency={currency} windows={windows} />
              ))}
            </Stack>
          </Section>
        );
      }}
    </Loaded>
  );
}

function Months({ currency, windows }: { readonly currency: string; readonly windows: Windows }) {
  const times = useMemo(() => windows.map(({ window_start }) => window_start), [windows]);
  const series = useMemo(
    () => [
      {
        name: formatCurrency(currency),
        values: windows.map(({ total_revenue }) => total_revenue),
      },
    ],
    [currency, windows],
  );
  return (
    <Card>
      <TimeChart
        label={`Issued revenue by month in ${formatCurrency(currency)}`}
        kind="bars"
        times={times}
        series={series}
        currency={currency}
      />
    </Card>
  );
}
