import { BillingError, type ErrorDetail } from '../../../domain/errors.ts';
import { PROPERTY_KEYS_MAX } from '../../../schemas/events/event-bodies.ts';

/** The columns of a file of events, in order. */
export type EventColumns = readonly EventColumn[];
interface EventColumn {
  readonly name: string;
  /** The key of a column `properties.<key>`; else null. */
  readonly property: string | null;
}

const REQUIRED = ['event_name', 'external_customer_id', 'timestamp'] as const;
const OPTIONAL = ['event_id', 'customer_id', 'source'] as const;
const FIELDS: readonly string[] = [...REQUIRED, ...OPTIONAL];
const PROPERTY = 'properties.';
const COLUMNS_MAX = FIELDS.length + PROPERTY_KEYS_MAX;

/**
 * Parses the header line (money 19.2): the fields of an event and, for each property,
 * `properties.<key>`. A timestamp is required: the arrival time of a file does not determine the time of its
 * rows. Throws 400 `validation_error` with every column that is missing, unknown or duplicate.
 */
export function eventColumns(header: readonly string[]): EventColumns {
  const names = header.map((name) => name.trim());
  if (names.length > COLUMNS_MAX)
    throw badHeader([
      problem('body', `has ${names.length} columns; a file has at most ${COLUMNS_MAX}`),
    ]);
  const problems = names.flatMap((name, index): ErrorDetail[] => {
    const where = name === '' ? `column ${index + 1}` : name;
    if (names.indexOf(name) < index) return [problem(where, 'is a duplicate column')];
    if (FIELDS.includes(name) || isProperty(name)) return [];
    const known = `${FIELDS.join(', ')}, and ${PROPERTY}<key> for properties`;
    return [problem(where, `is not a column of an event; the columns are ${known}`)];
  });
  const missing = REQUIRED.filter((name) => !names.includes(name));
  problems.push(...missing.map((name) => problem(name, 'is required as a column')));
  if (problems.length > 0) throw badHeader(problems);
  return names.map((name) => ({
    name,
    property: name.startsWith(PROPERTY) ? name.slice(PROPERTY.length) : null,
  }));
}

const isProperty = (name: string): boolean =>
  name.startsWith(PROPERTY) && name.length > PROPERTY.length && name !== `${PROPERTY}__proto__`;

/** An event as JSON text, or the error of its row. */
export type RowReading = { readonly json: string } | { readonly problem: ErrorDetail };

/**
 * The row as the JSON of one event, to be validated by the rules of `POST /events`. Cells are text, even
 * formulas; an empty cell is an absent field.
 */
export function readEventRow(columns: EventColumns, cells: readonly string[]): RowReading {
  if (cells.length !== columns.length) {
    const has = `has ${cells.length} cells where the first line has ${columns.length}`;
    return { problem: problem('row', has) };
  }
  const fields: [string, unknown][] = [];
  const properties: [string, string][] = [];
  columns.forEach(({ name, property }, index) => {
    const cell = cells[index]!;
    if (cell === '') return;
    if (property === null) fields.push([name, cell]);
    else properties.push([property, cell]);
  });
  if (!fields.some(([name]) => name === 'timestamp'))
    return { problem: problem('timestamp', 'is required') };
  return {
    json: JSON.stringify(
      Object.fromEntries([...fields, ['properties', Object.fromEntries(properties)]]),
    ),
  };
}

const problem = (path: string, message: string): ErrorDetail => ({
  path: path.slice(0, 200),
  code: 'invalid_value',
  message,
});

const badHeader = (problems: readonly ErrorDetail[]): BillingError => {
  const named = problems.map(({ path, message }) => `${path} ${message}`).join('; ');
  const message = `The first line of the file does not name the columns of events: ${named}`;
  return new BillingError('invalid', 'validation_error', message.slice(0, 2000), problems);
};
