import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { answerOf, api } from '../client/api.ts';
import { useMay } from './person.tsx';

/** The names of people and service accounts, by id, in one request. Empty for people who may not read them. */
export async function personNames(
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const user_ids = [...new Set(ids)];
  if (user_ids.length === 0) return new Map();
  const body = { user_ids, limit: user_ids.length };
  const { items } = await answerOf(api.POST('/users/search', { body, signal }));
  return new Map(items.map(({ id, name, email }) => [id, name || email || id]));
}

/** The name of a person or a service account, with the link to the list of people; the id if it is not known. */
export function PersonName({ id }: { readonly id: string }) {
  const mayRead = useMay('user:read');
  const person = useQuery({
    queryKey: ['person', id],
    enabled: mayRead && id.startsWith('user_'),
    staleTime: Infinity,
    retry: false,
    queryFn: async ({ signal }) => {
      const body = { user_ids: [id], limit: 1 };
      const { items } = await answerOf(api.POST('/users/search', { body, signal }));
      return items[0] ?? null;
    },
  });
  const name = person.data?.name || person.data?.email;
  return name ? (
    <Link to="/people" title={id}>
      <bdi>{name}</bdi>
    </Link>
  ) : (
    <code>{id}</code>
  );
}
