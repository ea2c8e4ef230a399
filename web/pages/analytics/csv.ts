import { csvText } from '../../ui/csv.ts';
import type { Item } from './figures.ts';

const COLUMNS = [
  'name', 'source', 'properties', 'window_start', 'usage', 'unit', 'events', 'subtotal', 'discount', 'cost',
  'currency',
] as const; // prettier-ignore

/** Each item with its windows, every number with all of its digits. */
export function csvOf(items: readonly Item[]): string {
  const rows = items.flatMap((item) => {
    const head = [item.name, item.source ?? '', JSON.stringify(item.properties ?? {})];
    const points =
      item.points !== null && item.points.length > 0
        ? item.points
        : [
            {
              timestamp: '',
              usage: item.total_usage,
              event_count: item.event_count,
              subtotal: item.subtotal,
              discount: item.total_discount,
              cost: item.total_cost,
            },
          ];
    return points.map((point) => [
      ...head,
      point.timestamp,
      point.usage,
      item.unit,
      String(point.event_count),
      point.subtotal,
      point.discount,
      point.cost,
      item.currency,
    ]);
  });
  return csvText([COLUMNS, ...rows]);
}
