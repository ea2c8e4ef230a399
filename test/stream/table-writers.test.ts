import type { EncodedRows } from '../../clickhouse/writing/encode-rows.ts';
import { TableWriter } from '../../stream/table-writers.ts';

const rows = (rowCount: number): EncodedRows => ({
  table: 't',
  columns: [],
  rowCount,
  bytes: Buffer.alloc(0),
});

describe('table writer', () => {
  /** Inserts that end when the test resolves them. */
  const subject = () => {
    const inserts: { counts: number[]; end(error?: Error): void }[] = [];
    const writer = new TableWriter(
      (parts) =>
        new Promise((resolve, reject) => {
          inserts.push({
            counts: parts.map((part) => part.rowCount),
            end: (error) => (error === undefined ? resolve() : reject(error)),
          });
        }),
    );
    return { writer, inserts };
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  test('rows that arrive during an insert go together into the next one', async () => {
    const { writer, inserts } = subject();
    const appended = [1, 2, 3].map((count) => writer.append(rows(count)));
    expect(inserts.map((insert) => insert.counts)).toEqual([[1]]);
    inserts[0]!.end();
    await appended[0];
    await settled();
    expect(inserts.map((insert) => insert.counts)).toEqual([[1], [2, 3]]);
    inserts[1]!.end();
    await Promise.all(appended);
  });

  test('an insert does not exceed its bound, but takes one call as a whole', async () => {
    const { writer, inserts } = subject();
    const appended = [1, 50_000, 20_000, 100_000].map((count) => writer.append(rows(count)));
    for (let insert = 0; insert < 4; insert++) {
      inserts[insert]!.end();
      await settled();
    }
    await Promise.all(appended);
    expect(inserts.map((insert) => insert.counts)).toEqual([[1], [50_000], [20_000], [100_000]]);
  });

  test('a failed insert fails only its own calls; a call without rows ends at once', async () => {
    const { writer, inserts } = subject();
    await writer.append(null);
    const failed = writer.append(rows(1));
    const fine = writer.append(rows(2));
    inserts[0]!.end(new Error('refused'));
    await expect(failed).rejects.toThrow('refused');
    await settled();
    inserts[1]!.end();
    await fine;
  });
});
