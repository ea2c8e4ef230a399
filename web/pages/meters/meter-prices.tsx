import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { rateOf } from '../../app/billing/rate-of.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { PlainTable, type Column } from '../../ui/data-table.tsx';
import { Stack } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';

const PRICES_SHOWN = 20;

/** The prices that charge what the meter counts, each with a link to its plan, addon, subscription or cost sheet. */
export function MeterPrices({ meterId }: { readonly meterId: string }) {
  const query = useQuery({
    queryKey: ['meter', meterId, 'prices'],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/prices/search', {
          body: { meter_ids: [meterId], limit: PRICES_SHOWN, expand: ['plan', 'addons'] },
          signal,
        }),
      ),
  });
  return (
    <Loaded query={query} what="the prices of the meter">
      {({ items, pagination: { total } }) =>
        total === 0 ? (
          <p>No price uses this meter.</p>
        ) : (
          <Stack>
            <p>{total === 1 ? '1 price uses' : `${total} prices use`} this meter:</p>
            <PlainTable label="Prices of the meter" rows={items} columns={COLUMNS} />
          </Stack>
        )
      }
    </Loaded>
  );
}

type Price = ApiRecord<'Price'>;

const COLUMNS: readonly Column<Price>[] = [
  { header: 'Sold with', cell: (price) => <Owner price={price} /> },
  { header: 'Price', cell: ({ display_name }) => <bdi>{display_name || 'Usage'}</bdi> },
  { header: 'Rate', cell: (price) => rateOf(price) },
  { header: 'Billed', cell: ({ billing_period }) => formatWord(billing_period) },
];

function Owner({ price: { entity_type, entity_id, plan, addon } }: { readonly price: Price }) {
  if (entity_type === 'PLAN')
    return (
      <Link to={`/plans/${entity_id}`}>
        <bdi>{plan?.name ?? 'Plan'}</bdi>
      </Link>
    );
  if (entity_type === 'SUBSCRIPTION')
    return <Link to={`/subscriptions/${entity_id}`}>Subscription</Link>;
  if (entity_type === 'ADDON')
    return (
      <Link to={`/addons/${entity_id}`}>
        <bdi>{addon?.name ?? 'Addon'}</bdi>
      </Link>
    );
  if (entity_type === 'COSTSHEET') return <Link to={`/cost-sheets/${entity_id}`}>Cost sheet</Link>;
  return <>{formatWord(entity_type)}</>;
}
