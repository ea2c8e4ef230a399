import { stringify } from 'csv-stringify/sync';

export type CsvCell = string | number | boolean | null;

/**
 * Rows as CSV (RFC 4180, lines end in LF). Text that begins with `=`, `+`, `-`, `@`, a tab or a carriage
 * return gets a `'` in front, because a spreadsheet would run it (tenancy S22). Columns in `decimals`
 * hold numbers of ours as text, which keep their sign.
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
  // A reader may take a lone CR, or a BOM, for what it is not.
  return stringify(safe, { quoted_match: /[\r\ufeff]/ });
}

const inert = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
