/** Rows of one request; a route that answers fewer is asked more often. */
const PAGE_ROWS = 500;

/** One page of a list, by its place. */
export type PageOf<Page> = (
  paging: { readonly limit: number; readonly offset: number },
  signal: AbortSignal,
) => Promise<Page>;

/**
 * Every row of a list, read page by page; `onRead` hears how many rows were read, and of how many. A record that is
 * created while the list is read moves the others to later places: a row that was read already is left out, unless
 * the page follows a key of its own (`followsKey`).
 */
export async function wholeList<Row extends { readonly id: string }>(
  page: PageOf<{
    readonly items: readonly Row[];
    readonly pagination: { readonly total: number };
  }>,
  signal: AbortSignal,
  onRead: (done: number, total: number) => void,
  followsKey = false,
): Promise<Row[]> {
  const rows: Row[] = [];
  const seen = new Set<string>();
  for (let offset = 0; ;) {
    const { items, pagination } = await page({ limit: PAGE_ROWS, offset }, signal);
    for (const row of items) {
      if (followsKey || !seen.has(row.id)) rows.push(row);
      seen.add(row.id);
    }
    onRead(rows.length, pagination.total);
    offset += items.length;
    if (items.length === 0 || offset >= pagination.total) return rows;
  }
}
