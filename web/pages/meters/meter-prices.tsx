import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { rateOf } from '../../app/billing/rate-of.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Loaded } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';

const PRICES_SHOWN = 20;

/** The prices that charge what the meter counts, each with a link to its plan, addon or subscription. */
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
          <div>
            <p>{total === 1 ? '1 price uses' : `${total} prices use`} this meter:</p>
            <ul>
              {items.map((price) => (
                <li key={price.id}>
                  <NameOf price={price} />
                </li>
              ))}
            </ul>
          </div>
        )
      }
    </Loaded>
  );
}

function NameOf({ price }: { readonly price: ApiRecord<'Price'> }) {
  const { display_name, entity_type, entity_id, plan, addon, billing_period } = price;
  const text = `${display_name || 'Usage'}, ${rateOf(price)}, ${formatWord(billing_period).toLowerCase()}`;
  if (entity_type === 'PLAN')
    return (
      <>
        <Link to={`/plans/${entity_id}`}>{plan?.name ?? 'Plan'}</Link> · <bdi>{text}</bdi>
      </>
    );
  if (entity_type === 'SUBSCRIPTION')
    return (
      <>
        <Link to={`/subscriptions/${entity_id}`}>Subscription</Link> · <bdi>{text}</bdi>
      </>
    );
  return <bdi>{`${addon?.name ?? formatWord(entity_type)} · ${text}`}</bdi>;
}
