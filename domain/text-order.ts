/**
 * The order of texts by their code units, for `sort`: of ids, and of instants in their one ISO form. Not
 * that of a language, which would differ from machine to machine.
 */
export function byText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
