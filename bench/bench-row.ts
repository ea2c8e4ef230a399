/** One measured claim. `run()` of each bench answers some, and `bench/run.ts` prints them together. */
export interface BenchRow {
  readonly name: string;
  readonly figure: number;
  readonly unit: string;
  /** What the same machine reached in the same run without the work that is measured. */
  readonly limit: number | null;
  /** figure ÷ limit; the part of a bench that another machine, or a busy one, can compare. */
  readonly ratio: number | null;
  /** CPU seconds for a million units, by process, and how it was measured. */
  readonly notes: string;
}

export function benchRow(
  name: string,
  figure: number,
  unit: string,
  limit: number | null,
  notes: string,
): BenchRow {
  const ratio = limit === null || limit === 0 ? null : Number((figure / limit).toFixed(3));
  return { name, figure: rounded(figure), unit, limit: limit && rounded(limit), ratio, notes };
}

/** An aligned table, notes on lines of their own so that it fits a terminal. */
export function table(rows: readonly BenchRow[]): string {
  const cells = [
    ['bench', 'figure', 'unit', 'limit', 'ratio'],
    ...rows.map((row) => [
      row.name,
      grouped(row.figure),
      row.unit,
      row.limit === null ? '-' : grouped(row.limit),
      row.ratio === null ? '-' : row.ratio.toFixed(2),
    ]),
  ];
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const isText = [true, false, true, false, false];
  return cells
    .map((row, index) => {
      const line = row
        .map((cell, column) =>
          isText[column]! ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
        )
        .join('  ');
      const notes = index === 0 ? '' : rows[index - 1]!.notes;
      return notes === '' ? line : `${line}\n    ${notes}`;
    })
    .join('\n');
}

const rounded = (value: number): number =>
  value >= 100 ? Math.round(value) : Number(value.toPrecision(3));
const grouped = (value: number): string => value.toLocaleString('en-US');

/** What the command line says, for those benches that look at it. */
export interface BenchOptions {
  readonly sizes?: string;
  readonly keep?: string;
  readonly from?: string;
  readonly backfill?: boolean;
  readonly events?: string;
}
