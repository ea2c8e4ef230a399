/** One step of an explanation for readers, without its number and rule. */
export interface StepText {
  readonly title: string;
  readonly body: readonly StepPart[];
}

/** What stands below the title of a step, in order; a reader that has no columns prints it with `textLines`. */
export type StepPart =
  /** A sentence or a formula. */
  | string
  /** The first row is the heading. */
  | { readonly rows: readonly (readonly Cell[])[] }
  /** Names and values. */
  | { readonly facts: readonly (readonly [name: string, value: string])[] }
  /** Steps within the step, under a heading of their own. `number` is complete: `1.2`. */
  | { readonly heading: string; readonly steps: readonly NumberedStep[] };

export interface NumberedStep extends StepText {
  readonly number: string;
  readonly rule: string;
}

export type Cell = string | NamedCell;

/** A cell with the name of a record, for readers that link it. */
export interface NamedCell {
  readonly kind: 'coupon' | 'tax_rate' | 'wallet';
  readonly id: string;
  readonly before: string;
  readonly name: string;
  readonly after: string;
}

export const cellText = (cell: Cell): string =>
  typeof cell === 'string' ? cell : cell.before + cell.name + cell.after;

/** The body of a step as lines, its tables in aligned columns. */
export const textLines = (body: readonly StepPart[]): string[] =>
  body.flatMap((part): string[] => {
    if (typeof part === 'string') return [part];
    if ('rows' in part) return textTable(part.rows);
    if ('facts' in part) return textTable(part.facts);
    return ['', part.heading, ...part.steps.flatMap(stepLines).map(indented)];
  });

/** A step as lines: its number, title and rule, and its body indented. */
export const stepLines = ({ number, title, rule, body }: NumberedStep): string[] => [
  `${number} ${title} (${rule})`,
  ...textLines(body).map(indented),
];

export const indented = (line: string): string => (line === '' ? '' : `   ${line}`);

/** Rows as lines with aligned columns (`tableColumns`). No line ends in a space. */
export function textTable(rows: readonly (readonly Cell[])[]): string[] {
  const columns = tableColumns(rows).map(padded);
  return rows.map((_, index) =>
    columns
      .map((column) => column[index])
      .join('  ')
      .trimEnd(),
  );
}

/** A column of a table. Text stands to the left, decimals have their points below each other. */
export interface TableColumn {
  readonly heading: Cell;
  /** One for each row below the heading; empty where the row has none. */
  readonly cells: readonly Cell[];
  /** All its cells are decimals, or words in place of decimals. */
  readonly isNumeric: boolean;
  /** By cell: characters of the longest decimal places, point included, that this cell does not have. */
  readonly room: readonly number[];
}

/** The columns of rows whose first is the heading. Empty columns are left out. */
export function tableColumns(rows: readonly (readonly Cell[])[]): TableColumn[] {
  const width = Math.max(...rows.map((row) => row.length));
  return Array.from({ length: width }, (_, index) => rows.map((row) => row[index] ?? ''))
    .filter((column) => column.some((cell) => cell !== ''))
    .map(([heading, ...cells]) => columnOf(heading!, cells));
}

function columnOf(heading: Cell, cells: readonly Cell[]): TableColumn {
  const filled = cells.map(cellText).filter((cell) => cell !== '');
  const isNumeric =
    filled.some(isDecimal) && filled.every((cell) => isDecimal(cell) || isWord(cell));
  return { heading, cells, isNumeric, room: isNumeric ? roomOf(cells) : cells.map(() => 0) };
}

/** A word aligns with the last integer digit. */
function roomOf(cells: readonly Cell[]): number[] {
  const lengths = cells.map((cell) => {
    const text = cellText(cell);
    const decimals = isDecimal(text) ? (text.split('.')[1] ?? '') : '';
    return decimals === '' ? 0 : decimals.length + 1;
  });
  const most = Math.max(...lengths);
  return lengths.map((length) => most - length);
}

function padded({ heading, cells, isNumeric, room }: TableColumn): string[] {
  const body = cells.map((cell, index) => cellText(cell) + ' '.repeat(room[index]!));
  const all = [cellText(heading), ...body];
  const width = Math.max(...all.map((cell) => cell.length));
  return all.map((cell) => (isNumeric ? cell.padStart(width) : cell.padEnd(width)));
}

/** `≈`, or the mark of `RoundedFigures`, stands before a number that is rounded for the reader. */
const isDecimal = (cell: string): boolean => /^[≈\ue000-\uf8ff]?-?\d[\d,]*(\.\d+)?$/.test(cell);
/** A word in place of a number: `open`, `unlimited`. */
const isWord = (cell: string): boolean => /^[a-z]+$/.test(cell);
