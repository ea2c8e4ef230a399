/** One row of the table of sizes: a figure per size, and its limit. */
export interface ScaleMeasure {
  readonly name: string;
  readonly unit: string;
  /** Applies to sizes up to `limitUpTo` events; null means shown without verdict. */
  readonly limit: number | null;
  readonly limitUpTo: number;
}

export type ScaleFigures = ReadonlyMap<string, number>;

/**
 * Measures as rows and sizes as columns. The verdict is `ok` or `MISSED` by the limit. Above
 * `limitUpTo`, and without a limit, growth is shown: figure ÷ figure one size before. With linear cost
 * it is at most the ratio of sizes.
 */
export function scaleTable(
  measures: readonly ScaleMeasure[],
  sizes: readonly {
    readonly name: string;
    readonly events: number;
    readonly figures: ScaleFigures;
  }[],
): string {
  const rows = [
    ['measure', 'unit', ...sizes.map(({ name }) => name), 'limit', 'verdict', 'growth'],
    ...measures.map((measure) => [
      measure.name,
      measure.unit,
      ...sizes.map(({ figures }) => shown(figures.get(measure.name))),
      measure.limit === null ? '-' : `${measure.limit}${upTo(measure.limitUpTo)}`,
      verdictOf(measure, sizes),
      growthOf(measure, sizes),
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column > 1 && column < 2 + sizes.length
            ? cell.padStart(widths[column]!)
            : cell.padEnd(widths[column]!),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function verdictOf(
  { name, limit, limitUpTo }: ScaleMeasure,
  sizes: readonly { readonly events: number; readonly figures: ScaleFigures }[],
): string {
  if (limit === null) return '-';
  const judged = sizes.filter(({ events }) => events <= limitUpTo);
  if (judged.length === 0) return '-';
  return judged.every(({ figures }) => (figures.get(name) ?? Infinity) <= limit) ? 'ok' : 'MISSED';
}

function growthOf(
  { name }: ScaleMeasure,
  sizes: readonly { readonly events: number; readonly figures: ScaleFigures }[],
): string {
  const ratios = sizes.slice(1).map((size, index) => {
    const before = sizes[index]!;
    const grown = (size.figures.get(name) ?? 0) / (before.figures.get(name) ?? NaN);
    return `x${grown.toPrecision(2)} of x${(size.events / before.events).toPrecision(2)}`;
  });
  return ratios.join(', ') || '-';
}

const upTo = (events: number): string =>
  events === Infinity ? '' : ` to ${events.toLocaleString('en-US')}`;

function shown(figure: number | undefined): string {
  if (figure === undefined) return '-';
  return figure >= 100
    ? Math.round(figure).toLocaleString('en-US')
    : String(Number(figure.toPrecision(3)));
}
