import { LIMIT_DEFAULT, type Page, type PageQuery } from '../../schemas/search.ts';

/**
 * One page of a list that is computed, and so exists only as a whole. Without a limit it contains all of it:
 * clients read these lists without paging.
 */
export function pageOfList<Item>(items: readonly Item[], query: PageQuery): Page<Item> {
  const { limit = Math.max(LIMIT_DEFAULT, items.length), offset = 0 } = query;
  const pagination = { total: items.length, limit, offset: offset + limit };
  return { items: items.slice(offset, offset + limit), pagination };
}
