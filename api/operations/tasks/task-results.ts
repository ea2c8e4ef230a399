import { Readable } from 'node:stream';
import { writeCsv } from '../../../platform/csv/write-csv.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import { getTask, nextResults } from './repository.ts';

const HEADER = ['row_number', 'status', 'event_id', 'column', 'reason'] as const;

/**
 * The outcome of each processed row as CSV, in file order; `row_number` counts the rows after the header from
 * 1. Streamed, one run of rows at a time. 404 before the first byte.
 */
export async function taskResults(db: Db, scope: Scope, id: string): Promise<Readable> {
  await getTask(db, scope, id);
  return Readable.from(lines(db, scope, id), { objectMode: false });
}

async function* lines(db: Db, scope: Scope, id: string): AsyncGenerator<string, void> {
  yield writeCsv([HEADER]);
  for (let from = 1; ;) {
    const run = await nextResults(db, scope, id, from);
    if (run === null) return;
    yield writeCsv(
      run.results.map(([event_id, column, reason], index) => [
        run.first_row + index,
        reason === undefined ? 'accepted' : 'failed',
        event_id,
        column ?? null,
        reason ?? null,
      ]),
    );
    from = run.first_row + run.results.length;
  }
}
