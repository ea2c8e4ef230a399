/**
 * The text of an array for Postgres. An array in an array is a dimension. Undefined is null. Anything but an array
 * is the text already.
 */
export function serializeArray(values: unknown, serialize: (element: unknown) => unknown): string {
  if (!Array.isArray(values)) return String(values);
  const texts = values.map((value: unknown) => {
    if (value === null || value === undefined) return 'NULL';
    if (Array.isArray(value)) return serializeArray(value, serialize);
    return `"${String(serialize(value)).replace(/["\\]/g, '\\$&')}"`;
  });
  return `{${texts.join(',')}}`;
}
