import { answerOf, api } from '../client/api.ts';
import { NamedLink, useNames } from './names.tsx';

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

/** A person or a service account with the link to the list of people; the id if the name is not known. */
export function PersonName({ id }: { readonly id: string }) {
  const names = useNames('user:read', id.startsWith('user_') ? [id] : [], personNames);
  return names.has(id) ? <NamedLink to="/people" id={id} names={names} /> : <code>{id}</code>;
}
