import { answerOf, api } from '../client/api.ts';
import { NamedLink, useNames } from './names.tsx';

/** The names of the customers of a list, by id. */
export const useCustomerNames = (ids: readonly string[]): ReadonlyMap<string, string> =>
  useNames('customer:read', ids, async (customer_ids, signal) => {
    const body = { customer_ids: [...customer_ids], limit: customer_ids.length };
    const { items } = await answerOf(api.POST('/customers/search', { body, signal }));
    return new Map(items.map(({ id, name, external_id }) => [id, name || external_id]));
  });

export const CustomerName = ({ id }: { readonly id: string }) => (
  <NamedLink to={`/customers/${id}`} id={id} names={useCustomerNames([id])} />
);
