import { SUBSCRIPTION_STATUSES } from '../../../schemas/words.ts';
import { answerOf, api } from '../../client/api.ts';
import { NamedLink, useNames } from '../names.tsx';

/** A subscription by the name of its plan. */
export function SubscriptionName({ id }: { readonly id: string }) {
  const names = useNames('subscription:read', [id], async (_ids, signal) => {
    const params = { path: { id } };
    const { plan } = await answerOf(api.GET('/subscriptions/{id}', { params, signal }));
    return new Map(plan === null ? [] : [[id, plan.name]]);
  });
  return <NamedLink to={`/subscriptions/${id}`} id={id} names={names} />;
}

/** Subscriptions of a list by plan and customer, by id: `Growth · Acme Inc`. */
export const useSubscriptionNames = (ids: readonly string[]): ReadonlyMap<string, string> =>
  useNames('subscription:read', ids, async (subscription_ids, signal) => {
    const { items } = await answerOf(
      api.POST('/subscriptions/search', {
        body: {
          subscription_ids: [...subscription_ids],
          subscription_status: [...SUBSCRIPTION_STATUSES],
          expand: ['plan', 'customer'],
          limit: subscription_ids.length,
        },
        signal,
      }),
    );
    return new Map(
      items.map(({ id, plan, plan_id, customer, customer_id }) => [
        id,
        `${plan?.name ?? plan_id} · ${customer?.name ?? customer_id}`,
      ]),
    );
  });
