import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import { decimal, decimalText } from '../../../domain/money.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { TimeChart } from '../../ui/chart.tsx';
import { Money } from '../../ui/money.tsx';
import { Card, Section, Stack } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { Rounded } from '../../ui/rounded.tsx';
import { formatMoney } from '../../ui/text.ts';
import { Day, Time } from '../../ui/time.tsx';

type Wallet = ApiRecord<'WalletBalance'>;
type Forecasted = ApiRecord<'WalletForecast'>;

/** The forecast of the server; the figure and the tab show the same one. */
export const useForecast = ({ id }: Pick<Wallet, 'id'>): UseQueryResult<Forecasted> =>
  useQuery({
    queryKey: ['wallet', id, 'forecast'],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/wallets/{id}/forecast', { params: { path: { id } }, signal })),
  });

/** The day on which the wallet is empty, in a few words. */
export function EmptyDay({ forecast }: { readonly forecast: UseQueryResult<Forecasted> }) {
  const { data, isError } = forecast;
  if (isError) return <>Unknown</>;
  if (data === undefined) return <>…</>;
  if (data.points.length === 0) return <>–</>;
  if (data.empty_at === null) return <>In over a year</>;
  return data.empty_at <= data.at ? <>Now</> : <Day at={data.empty_at} />;
}

/** How the balance goes on with the usage of the last four weeks, and this usage by day. */
export function Forecast({ wallet }: { readonly wallet: Wallet }) {
  const forecast = useForecast(wallet);
  return (
    <Loaded query={forecast} what="the forecast" isTall>
      {(found) =>
        found.points.length === 0 ? (
          <EmptyState title="No forecast">
            Usage lowers active prepaid wallets only; this wallet is not one of them.
          </EmptyState>
        ) : (
          <Stack>
            <p>
              <Outlook of={found} />
            </p>
            <Balance of={found} />
            <Usage of={found} />
          </Stack>
        )
      }
    </Loaded>
  );
}

function Outlook({ of }: { readonly of: Forecasted }) {
  const pace = (
    <>
      Usage of the last four weeks costs <Mean of={of} /> a day.
    </>
  );
  if (of.empty_at === null) return <>{pace} At this rate the wallet lasts for more than a year.</>;
  if (of.empty_at <= of.at) return <>{pace} The wallet is empty.</>;
  return (
    <>
      {pace} At this pace the wallet is empty on <Time at={of.empty_at} />. Credits that expire are
      taken into account; grants and top-ups to come are not.
    </>
  );
}

/** Decimals of the mean that are shown. */
const MEAN_DECIMALS = 6;

/** The mean of a day: more digits than a person reads are shown on demand. */
function Mean({ of: { daily_usage, currency } }: { readonly of: Forecasted }) {
  const exact = decimal(daily_usage);
  const shown = exact.toDecimalPlaces(MEAN_DECIMALS);
  if (exact.eq(shown)) return <Money amount={daily_usage} currency={currency} />;
  return (
    <Rounded
      shown={`≈${formatMoney(decimalText(shown), currency)}`}
      exact={formatMoney(daily_usage, currency)}
    />
  );
}

function Balance({ of: { points, currency } }: { readonly of: Forecasted }) {
  const times = useMemo(() => points.map(({ at }) => at), [points]);
  const series = useMemo(
    () => [{ name: 'Balance', values: points.map(({ balance }) => balance) }],
    [points],
  );
  return (
    <Section title="Balance forecast">
      <Card>
        <TimeChart
          label="Forecast of the balance by day"
          times={times}
          series={series}
          currency={currency}
        />
      </Card>
    </Section>
  );
}

function Usage({ of: { usage, currency, timezone } }: { readonly of: Forecasted }) {
  const times = useMemo(() => usage.map(({ day }) => day), [usage]);
  const series = useMemo(
    () => [{ name: 'Usage', values: usage.map(({ amount }) => amount) }],
    [usage],
  );
  return (
    <Section title="Usage of the last four weeks">
      {usage.length === 0 ? (
        <EmptyState title="No usage in the last four weeks">
          Usage that this wallet pays for is shown here by day.
        </EmptyState>
      ) : (
        <Card>
          <TimeChart
            label="Priced usage by day"
            kind="bars"
            times={times}
            series={series}
            zone={timezone}
            currency={currency}
          />
        </Card>
      )}
    </Section>
  );
}
