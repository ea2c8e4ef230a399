import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { answerOf, api } from '../client/api.ts';
import { useMay } from './person.tsx';

/** The names of the customers of a list, by id, in one request. Empty for people who may not read customers. */
export function useCustomerNames(ids: readonly string[]): ReadonlyMap<string, string> {
  const may = useMay('customer:read');
  const customer_ids = [...new Set(ids)].sort();
  const { data } = useQuery({
    queryKey: ['customer-names', customer_ids],
    enabled: may && customer_ids.length > 0,
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/customers/search', {
          body: { customer_ids, limit: customer_ids.length },
          signal,
        }),
      ),
    placeholderData: (before) => before,
  });
  return new Map(data?.items.map(({ id, name, external_id }) => [id, name || external_id]));
}

/** The name of one customer as a link; the id until it is known, and for people who may not read it. */
export function CustomerName({ id }: { readonly id: string }) {
  const names = useCustomerNames([id]);
  return (
    <Link to={`/customers/${id}`}>
      <bdi>{names.get(id) ?? id}</bdi>
    </Link>
  );
}
