import fc from 'fast-check';
import { BillingError } from '../../domain/errors.ts';
import { readCsv } from '../../platform/csv/read-csv.ts';
import { writeCsv } from '../../platform/csv/write-csv.ts';

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const RUNS = process.env['DEEP'] === '1' ? 20_000 : 300;

/** Reading is asynchronous, so these are no `property`. `SEED=n` repeats a run. */
const property = <Value>(
  title: string,
  values: fc.Arbitrary<Value>,
  check: (value: Value) => Promise<void>,
) =>
  test(`${title} (${RUNS} cases, SEED=${SEED})`, async () => {
    await fc.assert(fc.asyncProperty(values, check), { seed: SEED, numRuns: RUNS });
  });

async function rowsOf(content: Buffer): Promise<string[][]> {
  const rows: string[][] = [];
  for await (const row of readCsv(content)) rows.push(row);
  return rows;
}

const cell = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom(
    '',
    '"',
    '""',
    ',',
    '\n',
    '\r\n',
    '=1+1',
    '-2',
    '+3',
    '@x',
    '\t',
    "'=",
    'a"b,c\nd',
  ),
);
/** A byte order mark at the start of a file is none of its text. */
const storable = (text: string) =>
  Buffer.from(text).toString() === text && !/[\u0000\ufeff]/.test(text);

property(
  'what is written is read again, with what a spreadsheet would run made inert',
  fc.array(fc.array(cell.filter(storable), { minLength: 2, maxLength: 5 }), { maxLength: 20 }),
  async (rows) => {
    const read = await rowsOf(Buffer.from(writeCsv(rows)));
    const inert = rows.map((row) =>
      row.map((text) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text)),
    );
    expect(read).toEqual(inert);
    for (const text of read.flat()) expect(text).not.toMatch(/^[=+\-@\t\r]/);
  },
);

property(
  'any bytes are rows or a refusal',
  fc.oneof(
    fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
    fc
      .array(fc.constantFrom('"', ',', '\n', '\r', 'a', '\ufeff', ' '))
      .map((parts) => Buffer.from(parts.join(''))),
  ),
  async (content) => {
    try {
      for (const row of await rowsOf(content)) expect(row.length).toBeGreaterThan(0);
    } catch (error) {
      expect(error).toBeInstanceOf(BillingError);
      expect((error as BillingError).code).toBe('validation_error');
    }
  },
);

test('numbers of ours keep their sign, and only in the columns that are named', () => {
  expect(writeCsv([['-5', '-5']], new Set([1]))).toBe("'-5,-5\n");
  expect(writeCsv([[true, null, 3, '']])).toBe('true,,3,\n');
});
