import { LIMIT_DEFAULT, type Page } from '../../schemas/search.ts';

/** An unpaged list in the form of a page that contains everything. */
export function wholeList<Item>(items: Item[]): Page<Item> {
  const limit = Math.max(LIMIT_DEFAULT, items.length);
  return { items, pagination: { total: items.length, limit, offset: limit } };
}
