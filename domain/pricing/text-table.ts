/** One step of an explanation as text, without its number and rule. */
export interface StepText {
  readonly title: string;
  readonly lines: readonly string[];
  /** Names of records within the lines, for readers that link them. */
  readonly named?: readonly NamedPlace[];
}

/** The name of a record in a line: its first character and the one after its last. Lines count from 0. */
export interface NamedPlace {
  readonly kind: 'coupon' | 'tax_rate' | 'wallet';
  readonly id: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

/**
 * Rows as lines with aligned columns: text to the left, decimals by their decimal point. The first row is the
 * heading. Empty columns are left out, and no line ends in a space.
 */
export function textTable(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(...rows.map((row) => row.length));
  const columns = Array.from({ length: width }, (_, index) => rows.map((row) => row[index] ?? ''))
    .filter((column) => column.some((cell) => cell !== ''))
    .map(alignColumn);
  return rows.map((_, index) =>
    columns
      .map((column) => column[index])
      .join('  ')
      .trimEnd(),
  );
}

function alignColumn([heading, ...cells]: readonly string[]): string[] {
  const filled = cells.filter((cell) => cell !== '');
  const numeric = filled.some(isDecimal) && filled.every((cell) => isDecimal(cell) || isWord(cell));
  const body = numeric ? alignPoints(cells) : cells;
  const width = Math.max(...[heading ?? '', ...body].map((cell) => cell.length));
  const pad = (cell: string) => (numeric ? cell.padStart(width) : cell.padEnd(width));
  return [heading ?? '', ...body].map(pad);
}

/** Pads the decimals to the same length with spaces. A word aligns with the last integer digit. */
function alignPoints(cells: readonly string[]): string[] {
  const decimalsOf = (cell: string) => (isDecimal(cell) ? (cell.split('.')[1] ?? '') : '');
  const most = Math.max(...cells.map((cell) => decimalsOf(cell).length));
  const room = most === 0 ? 0 : most + 1;
  return cells.map((cell) => {
    const used = decimalsOf(cell).length;
    return cell + ' '.repeat(room - (used === 0 ? 0 : used + 1));
  });
}

/** `≈`, or the mark of `RoundedFigures`, stands before a number that is rounded for the reader. */
const isDecimal = (cell: string): boolean => /^[≈\ue000-\uf8ff]?-?\d[\d,]*(\.\d+)?$/.test(cell);
/** A word in place of a number: `open`, `unlimited`. */
const isWord = (cell: string): boolean => /^[a-z]+$/.test(cell);
