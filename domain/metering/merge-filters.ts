import type { MeterSpec } from './usage.ts';

type MeterFilters = MeterSpec['filters'];

/**
 * Adds values to filters: the union per key, old values first, new keys at the end. Values are never
 * removed, because counted events stay counted.
 */
export function mergeFilters(old: MeterFilters, added: MeterFilters): MeterFilters {
  const merged = new Map(old.map((filter) => [filter.key, filter.values]));
  for (const { key, values } of added)
    merged.set(key, [...new Set([...(merged.get(key) ?? []), ...values])]);
  return [...merged].map(([key, values]) => ({ key, values }));
}
