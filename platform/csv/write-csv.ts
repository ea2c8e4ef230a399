import { stringify } from 'csv-stringify/sync';

export type CsvCell = string | number | boolean | null;

/**
 * Rows as CSV (RFC 4180, lines end in LF). Text that begins with `=`, `+`, `-`, `@`, a tab or a carriage
 * return gets a `'` in front, because a spreadsheet would run it as a formula (tenancy S22). Columns in
 * `decimals` hold our own numbers as text and keep their sign.
 */
export function writeCsv(
  rows: readonly (readonly CsvCell[])[],
  decimals: ReadonlySet<number> = new Set(),
): string {
  const safe = rows.map((row) =>
    row.map((cell, column) => {
      if (typeof cell === 'boolean') return String(cell);
      return typeof cell === 'string' && !decimals.has(column) ? inert(cell) : cell;
    }),
  );
  // Some readers take a lone CR as a line end, or a BOM as the start of a file.
  return stringify(safe, { quoted_match: /[\r\ufeff]/ });
}

const inert = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
