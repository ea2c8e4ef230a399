/** Rows of a file that spreadsheets read: the first names the columns. */
export const csvText = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n';

/** A cell that a spreadsheet would run gets a leading quote (tenancy S22). A negative amount stays a number. */
function cell(text: string): string {
  const isNegativeAmount = /^-\d+(\.\d+)?$/.test(text);
  const safe = /^[=+\-@\t\r]/.test(text) && !isNegativeAmount ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
