import { Decimal } from '../../../domain/money.ts';
import type { MeterUsage } from '../../../schemas/usage.ts';

/** The distinct `group_by` names of a usage query. */
export function groupNames(body: {
  readonly group_by?: readonly string[] | null;
  readonly group_by_property?: string | null;
}): string[] {
  return [
    ...new Set([
      ...(body.group_by ?? []),
      ...(body.group_by_property ? [body.group_by_property] : []),
    ]),
  ];
}

/** One window, or one group of it; without windows the range is the window. */
export function resultOf(
  row: { readonly window_start: string | null; readonly group: readonly string[] },
  value: string,
  names: readonly string[],
  start: string,
): NonNullable<MeterUsage['results']>[number] {
  return {
    window_size: row.window_start ?? start,
    value: new Decimal(value).toNumber(),
    group:
      names.length === 0
        ? null
        : Object.fromEntries(names.map((name, index) => [name, row.group[index]!])),
  };
}
