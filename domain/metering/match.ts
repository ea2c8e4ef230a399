import { scalarText, type Properties } from '../json-scalar.ts';
import type { FilterValues, MeterSpec } from './usage.ts';

/**
 * Compiles a meter's filters. Each key's property must equal one of the filter's values, compared as the
 * text of the JSON scalar; a missing key does not match (metering 6). No filters match every event. Two
 * filters on one key must both match.
 */
export function compileFilters(filters: MeterSpec['filters']): (properties: Properties) => boolean {
  const compiled = filters.map(({ key, values }) => ({ key, values: new Set(values) }));
  return (properties) => {
    for (const { key, values } of compiled) {
      const text = scalarText(properties[key]);
      if (text === null || !values.has(text)) return false;
    }
    return true;
  };
}

/**
 * Whether usage with these dimension values matches a price's filter (billing 2.5). `valueOf` returns the
 * empty string for a property that the event lacks; no list of a price may contain the empty string.
 */
export function matchesFilterValues(
  filter: FilterValues,
  valueOf: (key: string) => string,
): boolean {
  for (const key of Object.keys(filter)) {
    const value = valueOf(key);
    if (value === '' || !filter[key]!.includes(value)) return false;
  }
  return true;
}
