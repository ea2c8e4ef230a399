/**
 * Compares texts by code units, for `sort` of ids and of ISO instants. Does not use a locale, because locale
 * order differs between machines.
 */
export function byText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
