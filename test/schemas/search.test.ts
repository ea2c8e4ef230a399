import { searchSchemas } from '../../schemas/search.ts';

const { body, query } = searchSchemas({
  fields: { name: 'text', amount: 'number', created_at: 'time', is_enabled: 'boolean' },
  expand: ['plan', 'meters'],
  filters: (kind) => ({ ids: kind.list(), flag: kind.boolean(), since: kind.time() }),
});

const problems = (schema: typeof body | typeof query, value: unknown) => {
  const result = schema.safeParse(value);
  return result.success ? [] : result.error.issues.map((issue) => issue.path.join('.'));
};

describe('a search body and a query string mean the same', () => {
  test('defaults', () => {
    expect(body.parse({}).search).toEqual({
      limit: 50,
      offset: 0,
      sort: [],
      filters: [],
      expand: new Set(),
      status: null,
      start_time: null,
      end_time: null,
    });
    expect(query.parse({}).search).toEqual(body.parse({}).search);
  });

  test('lists by repetition or by commas, numbers and truth from text', () => {
    const fromQuery = query.parse({
      ids: ['a', 'b,c'],
      flag: 'true',
      limit: '5',
      offset: '10',
      sort: 'name',
      order: 'asc',
      expand: 'plan,meters',
    });
    const fromBody = body.parse({
      ids: ['a', 'b', 'c'],
      flag: true,
      limit: 5,
      offset: 10,
      sort: [{ field: 'name', direction: 'asc' }],
      expand: ['plan', 'meters'],
    });
    expect(fromQuery.search).toEqual(fromBody.search);
    expect([fromQuery.ids, fromQuery.flag]).toEqual([fromBody.ids, fromBody.flag]);
  });

  test('a name that only other searches expand is ignored', () => {
    expect(query.parse({ expand: 'plan,wallets' }).search.expand).toEqual(new Set(['plan']));
  });

  test('a path expands every name on it', () => {
    expect(query.parse({ expand: 'plan.meters' }).search.expand).toEqual(
      new Set(['plan', 'meters']),
    );
  });

  test('an order without a field is by age', () => {
    expect(query.parse({ order: 'asc' }).search.sort).toEqual([
      { field: 'created_at', kind: 'time', direction: 'asc' },
    ]);
  });

  test('null is absent, an empty parameter too', () => {
    expect(body.parse({ limit: null, sort: null, status: null, filters: null }).search.limit).toBe(
      50,
    );
    expect(query.parse({ limit: '', status: '', sort: '' }).search.limit).toBe(50);
  });
});

describe('filters', () => {
  const filter = (element: object) => body.parse({ filters: [element] }).search.filters[0];

  test.each`
    element                                                                                 | operator    | values
    ${{ field: 'name', value: { string: 'x' } }}                                            | ${'eq'}     | ${['x']}
    ${{ field: 'name', value: { array: ['x', 'y'] } }}                                      | ${'in'}     | ${['x', 'y']}
    ${{ field: 'amount', operator: 'gt', value: { number: 5 } }}                            | ${'gt'}     | ${['5']}
    ${{ field: 'amount', operator: 'gt', value: { string: '5.50' } }}                       | ${'gt'}     | ${['5.5']}
    ${{ field: 'created_at', operator: 'before', value: { date: '2026-01-01T00:00:00Z' } }} | ${'before'} | ${['2026-01-01T00:00:00.000Z']}
    ${{ field: 'is_enabled', value: { boolean: false } }}                                   | ${'eq'}     | ${[false]}
  `('$element', ({ element, operator, values }) => {
    expect(filter(element)).toMatchObject({ operator, values });
  });

  test.each`
    what                          | value                                                                         | path
    ${'limit 0'}                  | ${{ limit: 0 }}                                                               | ${'limit'}
    ${'limit 1001'}               | ${{ limit: 1001 }}                                                            | ${'limit'}
    ${'a limit that is text'}     | ${{ limit: 'x' }}                                                             | ${'limit'}
    ${'a negative offset'}        | ${{ offset: -1 }}                                                             | ${'offset'}
    ${'an unknown sort field'}    | ${{ sort: [{ field: 'shoe', direction: 'asc' }] }}                            | ${'sort.0.field'}
    ${'a sort field of objects'}  | ${{ sort: '__proto__' }}                                                      | ${'sort'}
    ${'an unknown direction'}     | ${{ sort: [{ field: 'name', direction: 'up' }] }}                             | ${'sort'}
    ${'an unknown filter field'}  | ${{ filters: [{ field: 'shoe', value: { string: 'x' } }] }}                   | ${'filters.0.field'}
    ${'an unknown operator'}      | ${{ filters: [{ field: 'name', operator: 'like', value: { string: 'x' } }] }} | ${'filters.0.operator'}
    ${'an operator out of place'} | ${{ filters: [{ field: 'name', operator: 'gt', value: { string: 'x' } }] }}   | ${'filters.0.operator'}
    ${'a value of another kind'}  | ${{ filters: [{ field: 'amount', value: { boolean: true } }] }}               | ${'filters.0.value'}
    ${'text that is no number'}   | ${{ filters: [{ field: 'amount', value: { string: 'x' } }] }}                 | ${'filters.0.value'}
    ${'an unknown expand'}        | ${{ expand: 'plan,shoe' }}                                                    | ${'expand'}
    ${'a path to nothing'}        | ${{ expand: 'plan.shoe' }}                                                    | ${'expand'}
    ${'an empty name on a path'}  | ${{ expand: 'plan.' }}                                                        | ${'expand'}
    ${'an unknown status'}        | ${{ status: 'gone' }}                                                         | ${'status'}
  `('$what is refused at $path', ({ value, path }) => {
    expect(problems(body, value)).toEqual([path]);
  });
});
