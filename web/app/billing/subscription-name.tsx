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
