/** One measured claim. `run()` of each bench returns several; `bench/run.ts` prints them in one table. */
export interface BenchRow {
  readonly name: string;
  readonly figure: number;
  readonly unit: string;
  /** The figure of the same machine in the same run without the measured work. */
  readonly limit: number | null;
  /** figure ÷ limit; comparable between machines and under other load. */
  readonly ratio: number | null;
  /** CPU seconds per million units, by process, and the method of measurement. */
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

/** An aligned table. Notes are on separate lines so that it fits a terminal. */
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

/** Command-line options, for benches that use them. */
export interface BenchOptions {
  readonly sizes?: string;
  readonly keep?: string;
  readonly from?: string;
  readonly backfill?: boolean;
  readonly events?: string;
  readonly kills?: string;
  readonly seconds?: string;
  readonly subscriptions?: string;
  readonly seed?: string;
  readonly customers?: string;
  readonly months?: string;
}
