import fc from 'fast-check';
import { randomInt } from 'node:crypto';
import type { Pool } from '../../postgres/client.ts';
import { findPage } from '../../postgres/search.ts';
import { searchSchemas, type FieldKind } from '../../schemas/search.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));
const RUNS = process.env['DEEP'] === '1' ? 10_000 : 300;

interface Row {
  readonly id: string;
  readonly status: string;
  readonly created_at: string;
  readonly label: string | null;
  readonly size: string | null;
  readonly at: string | null;
  readonly flag: boolean | null;
}
type Field = 'label' | 'size' | 'at' | 'flag';
interface Filter {
  readonly field: Field;
  readonly operator?: string | null;
  readonly value: Readonly<Record<string, unknown>>;
}

const fields: Record<Field, FieldKind> = {
  label: 'text',
  size: 'number',
  at: 'time',
  flag: 'boolean',
};
const Things = searchSchemas({ fields, filters: () => ({}) });
const day = (n: number) => new Date(Date.UTC(2026, 0, 1 + n)).toISOString();

const LABELS = ['a', 'ab', 'AB', 'b%', 'b_c', 'c\\d', 'abc', '', 'Über Жук', 'über b%'];
const SIZES = ['-1.5', '0', '1', '10', '10.25', '100000000000000000000'.slice(0, 18)];
const ROWS: readonly Row[] = Array.from({ length: 60 }, (_, n) => ({
  id: `thing_${String((n * 37) % 60).padStart(3, '0')}`,
  status: ['published', 'archived', 'deleted'][n % 3]!,
  created_at: day(n % 7),
  // One more than exist: the last is absent.
  label: LABELS[n % (LABELS.length + 1)] ?? null,
  size: n % 7 === 6 ? null : SIZES[n % 7]!,
  at: n % 5 === 4 ? null : day(n % 5),
  flag: [true, false, null][(n >> 1) % 3]!,
}));

const text = fc.constantFrom(...LABELS, 'B', 'zz', '%', '_', 'ÜB', 'жук', 'Ж_', 'Ü%');
const size = fc.constantFrom(...SIZES, '10.250', '2');
const time = fc.nat(6).map(day);
const filterOf = (
  field: Field,
  operators: readonly (string | null)[],
  value: fc.Arbitrary<Readonly<Record<string, unknown>>>,
) => fc.record({ field: fc.constant(field), operator: fc.constantFrom(...operators), value });
const filter: fc.Arbitrary<Filter> = fc.oneof(
  filterOf('label', [null, 'eq', 'contains', 'not_contains'], fc.record({ string: text })),
  filterOf('label', [null, 'in', 'not_in'], fc.record({ array: fc.array(text, { maxLength: 4 }) })),
  filterOf('size', [null, 'eq', 'gt', 'gte', 'lt', 'lte'], fc.record({ number: size })),
  filterOf('size', ['in', 'not_in'], fc.record({ array: fc.array(size, { maxLength: 4 }) })),
  filterOf(
    'at',
    [null, 'eq', 'gt', 'gte', 'lt', 'lte', 'before', 'after'],
    fc.record({ date: time }),
  ),
  filterOf('flag', [null, 'eq'], fc.record({ boolean: fc.boolean() })),
);
const body = fc.record(
  {
    filters: fc.array(filter, { maxLength: 3 }),
    sort: fc.array(
      fc.record({
        field: fc.constantFrom('size', 'at', 'flag'),
        direction: fc.constantFrom('asc', 'desc'),
      }),
      { maxLength: 3 },
    ),
    limit: fc.integer({ min: 1, max: 70 }),
    offset: fc.nat(70),
    start_time: time,
    end_time: time,
  },
  { requiredKeys: [] },
);
type Body = typeof body extends fc.Arbitrary<infer Value> ? Value : never;

/**
 * The plainest reading of the rules: nulls match nothing but a `not_`, and come last. For a condition with the empty
 * text an unset text is the empty text (api 37).
 */
function matches(row: Row, { field, operator, value }: Filter): boolean {
  const asksForEmpty = [value['string'], ...((value['array'] as unknown[]) ?? [])].includes('');
  const held = field === 'label' && asksForEmpty ? (row[field] ?? '') : row[field];
  const given = value['string'] ?? value['number'] ?? value['date'] ?? value['boolean'];
  const name = operator ?? (value['array'] === undefined ? 'eq' : 'in');
  if (held === null) return name === 'not_in' || name === 'not_contains';
  if (typeof held === 'boolean') return held === given;
  const order = (other: unknown) =>
    field === 'size'
      ? Number(held) - Number(other)
      : held < String(other)
        ? -1
        : held > String(other)
          ? 1
          : 0;
  const isAmong = () => (value['array'] as unknown[]).some((other) => order(other) === 0);
  const isIn = () => held.toLowerCase().includes(String(given).toLowerCase());
  switch (name) {
    case 'eq':
      return order(given) === 0;
    case 'contains':
      return isIn();
    case 'not_contains':
      return !isIn();
    case 'in':
      return isAmong();
    case 'not_in':
      return !isAmong();
    case 'gt':
    case 'after':
      return order(given) > 0;
    case 'gte':
      return order(given) >= 0;
    case 'lt':
    case 'before':
      return order(given) < 0;
    default:
      return order(given) <= 0;
  }
}

function expected(search: Partial<Body>): { ids: string[]; total: number } {
  const found = ROWS.filter(
    (row) =>
      row.status === 'published' &&
      (search.filters ?? []).every((each) => matches(row, each)) &&
      (search.start_time === undefined || row.created_at >= search.start_time) &&
      (search.end_time === undefined || row.created_at < search.end_time),
  );
  const compare = (a: string | boolean | null, b: string | boolean | null, isSize: boolean) => {
    if (a === b) return 0;
    if (isSize) return Number(a) - Number(b);
    return a! < b! ? -1 : 1;
  };
  const sorted = [...found].sort((a, b) => {
    for (const { field, direction } of (search.sort ?? []) as {
      field: Field;
      direction: string;
    }[]) {
      const [left, right] = [a[field], b[field]];
      if (left === right) continue;
      if (left === null || right === null) return left === null ? 1 : -1;
      const order = compare(left, right, field === 'size');
      if (order !== 0) return direction === 'asc' ? order : -order;
    }
    return compare(b.created_at, a.created_at, false) || compare(b.id, a.id, false);
  });
  const offset = search.offset ?? 0;
  return {
    ids: sorted.slice(offset, offset + (search.limit ?? 50)).map(({ id }) => id),
    total: sorted.length,
  };
}

describe('searching', () => {
  let database: TestDatabase;
  let pool: Pool;
  beforeAll(async () => {
    database = await createTestDatabase();
    pool = database.pool;
    await pool`
      create table things (
        id text primary key, status text not null, created_at timestamptz(3) not null,
        label text, size numeric(38, 18), at timestamptz(3), flag boolean)`;
    await pool`insert into things ${pool(ROWS as Row[])}`;
  });
  afterAll(() => database.drop());

  test(`every operator on every kind of value finds what the rows say, SEED=${SEED}`, async () => {
    process.stdout.write(`property "search": ${RUNS} cases, SEED=${SEED}\n`);
    await fc.assert(
      fc.asyncProperty(body, async (given) => {
        const { search } = Things.body.parse(given);
        const page = await findPage<Row>(pool, {
          columns: pool`*`,
          from: pool`things`,
          where: pool`status = 'published'`,
          search,
        });
        const { ids, total } = expected(given);
        expect([page.items.map(({ id }) => id), page.pagination]).toEqual([
          ids,
          { total, limit: search.limit, offset: search.offset + search.limit },
        ]);
      }),
      { seed: SEED, numRuns: RUNS },
    );
  }, 1_800_000);

  test('pages at a large offset are the same pages', async () => {
    await pool`
      insert into things (id, status, created_at)
      select 'deep_' || lpad(n::text, 5, '0'), 'deep', '2026-01-01'::timestamptz + (n / 3) * interval '1 hour'
        from generate_series(1, 1500) n`;
    const ids = async (offset: number, limit: number) => {
      const { search } = Things.body.parse({ offset, limit });
      const query = { columns: pool`*`, from: pool`things`, where: pool`status = 'deep'`, search };
      const page = await findPage<Row>(pool, query);
      expect(page.pagination.total).toBe(1500);
      return page.items.map(({ id }) => id);
    };
    const all = [...(await ids(0, 1000)), ...(await ids(1000, 1000))];
    expect(new Set(all).size).toBe(1500);
    expect(all).toEqual([...all].sort().reverse());
    expect(await ids(1200, 50)).toEqual(all.slice(1200, 1250));
  });
});
