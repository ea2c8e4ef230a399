import { createHash } from 'node:crypto';
import { writeCsv, type CsvCell } from '../../../platform/csv/write-csv.ts';
import type { EXPORT_FORMATS } from '../../../schemas/words.ts';

/** Maximum size of a part's text, plus the rows of one query. */
const PART_CHARACTERS_MAX = 16 * 1024 * 1024;

export interface ExportColumn<Row> {
  readonly name: string;
  cell(row: Row): CsvCell;
  /** A number of the product as text; its sign is kept. */
  readonly decimal?: boolean;
}

/** One complete part of an export, answered with its checksum. */
export interface ExportPart {
  readonly text: string;
  readonly rows: number;
  /** Start of the next part; null after the last row. */
  readonly next_cursor: string | null;
}

/**
 * Builds a part: rows are serialized as they arrive and not kept, until there are `limit` rows or 16 MiB of
 * text. A CSV part begins with its column names, so each part is a file.
 */
export class PartWriter<Row> {
  readonly #columns: readonly ExportColumn<Row>[];
  readonly #format: (typeof EXPORT_FORMATS)[number];
  readonly #decimals: ReadonlySet<number>;
  readonly #limit: number;
  #text: string;
  #rows = 0;

  constructor(
    columns: readonly ExportColumn<Row>[],
    { format, limit }: { readonly format: (typeof EXPORT_FORMATS)[number]; readonly limit: number },
  ) {
    this.#columns = columns;
    this.#format = format;
    this.#limit = limit;
    this.#decimals = new Set(
      columns.flatMap((column, index) => (column.decimal === true ? [index] : [])),
    );
    this.#text = format === 'csv' ? writeCsv([columns.map(({ name }) => name)]) : '';
  }

  /** How many more rows it takes; 0 if the text has reached its limit. */
  get room(): number {
    return this.#text.length >= PART_CHARACTERS_MAX ? 0 : Math.max(0, this.#limit - this.#rows);
  }

  /** `record` converts a row to an object, written as a line of JSON. */
  write(rows: readonly Row[], record: (row: Row) => object): void {
    this.#rows += rows.length;
    if (rows.length === 0) return;
    this.#text +=
      this.#format === 'csv'
        ? writeCsv(
            rows.map((row) => this.#columns.map((column) => column.cell(row))),
            this.#decimals,
          )
        : rows.map((row) => `${JSON.stringify(record(row))}\n`).join('');
  }

  end(next_cursor: string | null): ExportPart {
    return { text: this.#text, rows: this.#rows, next_cursor };
  }
}

/** Sets the headers with which a client checks the part and requests the next one. */
export function sendPart(
  call: { setHeader(name: string, value: string): void },
  part: ExportPart,
  format: (typeof EXPORT_FORMATS)[number],
): Buffer {
  const body = Buffer.from(part.text);
  call.setHeader('x-row-count', String(part.rows));
  call.setHeader('x-checksum-sha256', createHash('sha256').update(body).digest('hex'));
  if (part.next_cursor !== null) call.setHeader('x-next-cursor', part.next_cursor);
  call.setHeader(
    'content-type',
    format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8',
  );
  return body;
}
