import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Facts } from '../../ui/facts.tsx';
import { Money } from '../../ui/money.tsx';
import { Stack } from '../../ui/page.tsx';
import { Awaiting, Failure } from '../../ui/query-state.tsx';

type Preview = ApiRecord<'PricePreview'>;

/** What running subscriptions of the plan pay by the terms in the form, once their prices are updated. */
export function VersionEffect({
  priceId,
  body,
}: {
  readonly priceId: string;
  /** As the update takes it; null while the form is not complete. */
  readonly body: object | null;
}) {
  // A text: a new object at each render would be deferred for ever.
  const asked = useDeferredValue(JSON.stringify(body));
  const query = useQuery({
    queryKey: ['price-preview', priceId, asked],
    enabled: asked !== 'null',
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/prices/{id}/preview', {
          params: { path: { id: priceId } },
          body: JSON.parse(asked) as never,
          signal,
        }),
      ),
    retry: false,
    placeholderData: keepPreviousData,
  });
  if (body === null)
    return <p>Complete the amounts to see what running subscriptions would pay.</p>;
  if (query.isError) return <Failure error={query.error} />;
  if (query.data === undefined) return <Awaiting what="running subscriptions" />;
  return (
    <section aria-label="Effect on running subscriptions" aria-live="polite">
      <Effect of={query.data} />
    </section>
  );
}

function Effect({ of }: { readonly of: Preview }) {
  const { subscriptions, compared, not_compared, currency } = of;
  if (subscriptions === 0) return <p>No running subscription has this price.</p>;
  const money = (amount: string) => <Money amount={amount} currency={currency} />;
  return (
    <Stack>
      <Facts
        of={[
          ['Running subscriptions', `${of.is_complete ? '' : 'More than '}${count(subscriptions)}`],
          ...(compared === 0
            ? []
            : ([
                [`They pay ${perPeriod(of)} now`, money(of.amount_now)],
                ['With the new version', money(of.amount_then)],
                ['Difference', money(of.difference)],
              ] as const)),
        ]}
      />
      <p>
        {compared === 0
          ? 'None of them has a quantity to compare yet.'
          : 'By the quantity of each subscription, or the usage on its last invoice; before commitments, discounts and taxes. '}
        {not_compared === 0 || compared === 0
          ? ''
          : `${not_compared === 1 ? '1 subscription is' : `${count(not_compared)} subscriptions are`} not in the amounts: nothing is invoiced yet, or its usage is rated in several parts. `}
        They change only when you update the prices of the subscriptions.
      </p>
    </Stack>
  );
}

const count = (value: number): string => value.toLocaleString('en-US');

const PERIODS: Readonly<Record<Preview['billing_period'], string>> = {
  DAILY: 'day',
  WEEKLY: 'week',
  MONTHLY: 'month',
  QUARTERLY: 'quarter',
  HALF_YEARLY: 'half-year',
  ANNUAL: 'year',
  ONETIME: 'time',
};

const perPeriod = ({ billing_period, billing_period_count: each }: Preview): string =>
  each === 1 ? `each ${PERIODS[billing_period]}` : `every ${each} ${PERIODS[billing_period]}s`;
