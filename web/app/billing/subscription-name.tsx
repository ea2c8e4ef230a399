import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { answerOf, api } from '../../client/api.ts';
import { useMay } from '../person.tsx';

/** A subscription as a link with the name of its plan; the id until it is known, and for people who may not read it. */
export function SubscriptionName({ id }: { readonly id: string }) {
  const may = useMay('subscription:read');
  const { data } = useQuery({
    queryKey: ['subscription-name', id],
    enabled: may,
    queryFn: ({ signal }) =>
      answerOf(api.GET('/subscriptions/{id}', { params: { path: { id } }, signal })),
  });
  return (
    <Link to={`/subscriptions/${id}`} title={id}>
      <bdi>{data?.plan?.name ?? id}</bdi>
    </Link>
  );
}
