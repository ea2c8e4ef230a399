import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { BillingError } from '../../domain/errors.ts';

/** Largest row (money 19.2): a cell without a closing quote must not swallow the file. */
export const CSV_ROW_BYTES_MAX = 32 * 1024;
/** One short step at a time: other requests wait no longer than for one step. */
const CHUNK_BYTES = 8 * 1024;

/**
 * The rows of a CSV file (RFC 4180: comma, doubled quotes; lines end in LF, CRLF or CR), with the cells as
 * written. Rows may differ in length. A byte order mark and empty lines are skipped. The process yields to
 * other work between chunks of 8 KiB. Throws 400 `validation_error` if the file cannot be split into rows:
 * bytes that are not UTF-8, NUL, a quote that opens or closes in the wrong place, a row above 32 KiB.
 */
export async function* readCsv(content: Buffer): AsyncGenerator<string[], void> {
  if (!isUtf8(content)) throw badFile('is not UTF-8; save it with that encoding');
  const nul = content.indexOf(0);
  if (nul >= 0) throw badFile(`has the character NUL at byte ${nul}`);
  const parser = parse({
    bom: true,
    columns: false,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: CSV_ROW_BYTES_MAX,
  });
  const source = Readable.from(chunks(content), { highWaterMark: 1 });
  source.pipe(parser);
  try {
    for await (const row of parser) yield row as string[];
  } catch (error) {
    throw error instanceof CsvError ? badFile(problemOf(error)) : error;
  } finally {
    source.destroy();
    parser.destroy();
  }
}

async function* chunks(content: Buffer): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < content.length; at += CHUNK_BYTES) {
    yield content.subarray(at, at + CHUNK_BYTES);
    await nextTurn();
  }
}

const badFile = (problem: string): BillingError =>
  new BillingError('invalid', 'validation_error', `The file ${problem}.`, [
    { path: 'body', code: 'malformed_csv', message: problem },
  ]);

/** The library's messages quote the file; these do not. */
function problemOf(error: CsvError): string {
  const lines = (error as { lines?: unknown }).lines;
  const where = typeof lines === 'number' ? `line ${lines}` : 'a line';
  switch (error.code) {
    case 'CSV_MAX_RECORD_SIZE':
      return `has a row of more than ${CSV_ROW_BYTES_MAX / 1024} KiB, about ${where}`;
    case 'CSV_QUOTE_NOT_CLOSED':
      return `has a quote that never closes, open at ${where}`;
    case 'CSV_INVALID_CLOSING_QUOTE':
    case 'CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE':
      return `has text behind a closing quote, in ${where}; a quote inside a cell is written twice`;
    case 'INVALID_OPENING_QUOTE':
      return `has a quote inside a cell that is not quoted, in ${where}`;
    default:
      return `is not readable CSV near ${where}`;
  }
}
