import { saveFile } from '../../client/download.ts';
import { csvText } from '../../ui/csv.ts';

/** A column of the file: its name, and the exact text of a row. */
export type FileColumn<Row> = readonly [string, (row: Row) => string | null];

/** Saves rows as CSV with the columns, or as JSONL as the API answers them. */
export function saveRows<Row>(
  rows: readonly Row[],
  columns: readonly FileColumn<Row>[],
  name: string,
  ending: 'csv' | 'jsonl',
): void {
  const file =
    ending === 'csv'
      ? new Blob([csvOf(columns, rows)], { type: 'text/csv' })
      : new Blob(
          rows.map((row) => `${JSON.stringify(row)}\n`),
          { type: 'application/jsonl' },
        );
  saveFile(file, `${name}.${ending}`);
}

const csvOf = <Row>(columns: readonly FileColumn<Row>[], rows: readonly Row[]): string =>
  csvText([
    columns.map(([header]) => header),
    ...rows.map((row) => columns.map(([, textOf]) => textOf(row) ?? '')),
  ]);

export { wholeList } from './whole-list.ts';
