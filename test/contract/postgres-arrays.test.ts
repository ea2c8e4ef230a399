import fc from 'fast-check';
import { ARRAYS_OF } from '../../postgres/driver-types.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/** Texts with what the syntax of arrays gives a meaning to. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }).map((each) => each.replaceAll('\0', '')),
  fc.string({ unit: fc.constantFrom('{', '}', ',', '"', '\\', ' ', 'N', 'U', 'L', '\n', 'é') }),
  fc.constantFrom('', 'NULL', 'null', '{}', '\\\\', '""'),
);

describe('arrays', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase(1);
  });
  afterAll(() => database.drop());

  test('the ids of array types are those of the server', async () => {
    const rows = await database.pool<{ name: string; ids: number[] }[]>`
      select typname as name, array[oid, typarray] as ids from pg_type
       where typname = any(${Object.keys(ARRAYS_OF)})`;
    expect(Object.fromEntries(rows.map(({ name, ids }) => [name, ids]))).toEqual(ARRAYS_OF);
  });

  test('the types of all array columns are known', async () => {
    const rows = await database.pool<{ element: string }[]>`
      select distinct element.typname as element
        from pg_attribute join pg_class on pg_class.oid = attrelid
        join pg_type on pg_type.oid = atttypid join pg_type element on element.oid = pg_type.typelem
       where pg_type.typcategory = 'A' and relnamespace = current_schema()::regnamespace and attnum > 0`;
    expect(rows.length).toBeGreaterThan(0);
    for (const { element } of rows) expect(ARRAYS_OF).toHaveProperty(element);
  });

  test('elements are returned as the server stored them', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.option(text), { maxLength: 8 }), async (values) => {
        const rows = await database.pool`
          select ${values}::text[] as sent, to_jsonb(${values}::text[]) as understood`;
        expect(rows).toEqual([{ sent: values, understood: values }]);
      }),
    ));

  test('several dimensions', () =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }).chain((width) =>
          fc.array(fc.array(text, { minLength: width, maxLength: width }), {
            minLength: 1,
            maxLength: 3,
          }),
        ),
        async (values) => {
          const rows = await database.pool`
            select ${values}::text[][] as sent, to_jsonb(${values}::text[][]) as understood`;
          expect(rows).toEqual([{ sent: values, understood: values }]);
        },
      ),
    ));

  test('each type of element is read as outside of an array', async () => {
    const [row] = await database.pool`
      select array[1.50, null]::numeric[] as decimals, array[1, 2]::integer[] as numbers,
             array[1, 2]::bigint[] as large, array[true, false] as flags,
             array['2026-01-02T03:04:05Z']::timestamptz[] as times,
             array['{"a": [1, "b"]}', 'null']::jsonb[] as documents,
             array['\\x00ff']::bytea[] as bytes, '[0:1]={a,b}'::text[] as from_zero, '{}'::text[] as empty`;
    expect(row).toEqual({
      decimals: ['1.5', null],
      numbers: [1, 2],
      large: ['1', '2'],
      flags: [true, false],
      times: ['2026-01-02T03:04:05.000Z'],
      documents: [{ a: [1, 'b'] }, null],
      bytes: [Buffer.from([0, 255])],
      from_zero: ['a', 'b'],
      empty: [],
    });
  });

  test('a text of an array is taken as one', async () => {
    const [row] =
      await database.pool`select ${'{1,2}'}::integer[] as numbers, ${[]}::text[] as none`;
    expect(row).toEqual({ numbers: [1, 2], none: [] });
  });
});
