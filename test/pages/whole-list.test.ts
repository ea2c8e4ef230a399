import { wholeList } from '../../web/app/list/whole-list.ts';

/** A list, newest first, that answers pages as the API does; `before` runs before each page. */
const listOf =
  (rows: { readonly id: string }[], before: () => void = () => undefined) =>
  async ({ limit, offset }: { limit: number; offset: number }) => {
    before();
    return { items: rows.slice(offset, offset + limit), pagination: { total: rows.length } };
  };

const rowsOf = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `row-${n}` }));

const read = (page: ReturnType<typeof listOf>, heard: string[] = []) =>
  wholeList(page, new AbortController().signal, (done, total) => heard.push(`${done}/${total}`));

describe('a whole list', () => {
  test.each([0, 1, 499, 500, 501, 1_000, 1_234])('%i rows are read once, in order', async (n) => {
    expect(await read(listOf(rowsOf(n)))).toEqual(rowsOf(n));
  });

  test('a route that answers fewer rows than were asked for is asked more often', async () => {
    const page = listOf(rowsOf(250));
    expect(await read(({ offset }) => page({ limit: 100, offset }))).toEqual(rowsOf(250));
  });

  test('who waits hears how far it is', async () => {
    const heard: string[] = [];
    await read(listOf(rowsOf(1_200)), heard);
    expect(heard).toEqual(['500/1200', '1000/1200', '1200/1200']);
  });

  test('a record that is created meanwhile repeats no row', async () => {
    const rows = rowsOf(1_200);
    let pages = 0;
    const page = listOf(rows, () => {
      pages += 1;
      if (pages === 2) rows.unshift({ id: 'new' });
    });
    expect(await read(page)).toEqual(rowsOf(1_200));
  });
});
