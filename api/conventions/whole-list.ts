import { LIMIT_DEFAULT, type Page } from '../../schemas/search.ts';

/** A list that is never paged, in the form of a page: everything is on it. */
export function wholeList<Item>(items: Item[]): Page<Item> {
  const limit = Math.max(LIMIT_DEFAULT, items.length);
  return { items, pagination: { total: items.length, limit, offset: limit } };
}
