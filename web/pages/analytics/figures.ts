import { decimal, decimalText, sum } from '../../../domain/money.ts';
import type {
  UsageAnalytics,
  UsageAnalyticsItem,
  UsageAnalyticsPoint,
} from '../../../schemas/usage-analytics.ts';
import { windowTimes, type AskedWindows } from '../../app/window-times.ts';
import type { Series } from '../../ui/series.ts';
import { capitalized, formatCurrency } from '../../ui/text.ts';

type Point = Pick<
  UsageAnalyticsPoint,
  'timestamp' | 'usage' | 'cost' | 'subtotal' | 'discount' | 'event_count'
>;

/** The fields of an answered item that the page shows. */
export type Item = Pick<
  UsageAnalyticsItem,
  | 'meter_id' | 'sub_line_item_id' | 'price_id' | 'name' | 'source' | 'properties' | 'unit' | 'unit_plural'
  | 'total_usage' | 'subtotal' | 'total_discount' | 'total_cost' | 'currency' | 'event_count'
  | 'windows_of_points'
> & { readonly points: readonly Point[] | null }; // prettier-ignore
export type Measure = 'usage' | 'cost' | 'events';
export type Total = UsageAnalytics['totals'][number];

/** Maximum number of lines in a chart; all further items share one more line. */
const LINES_MAX = 5;

/** What an item is about: its name, and the values that it is grouped by. */
export function titleOf(item: Item): string {
  const groups = [item.source, ...Object.values(item.properties ?? {})].filter(
    (value): value is string => value !== null,
  );
  const shown = groups.map((value) => (value === '' ? '(none)' : value));
  return [item.name, ...shown].join(' · ');
}

export const keyOf = (item: Item): string =>
  JSON.stringify([
    item.meter_id,
    item.sub_line_item_id,
    item.price_id,
    item.source,
    item.properties,
  ]);

export function valueOf(item: Item, measure: Measure): string {
  if (measure === 'events') return String(item.event_count);
  return measure === 'cost' ? item.total_cost : item.total_usage;
}

/** Largest first. */
export const sorted = (items: readonly Item[], measure: Measure): Item[] =>
  [...items].sort((left, right) =>
    decimal(valueOf(right, measure)).comparedTo(decimal(valueOf(left, measure))),
  );

/**
 * The items of each chart, in the order of the items: costs of one currency, usage in one unit, or all events.
 * Without a unit a meter is alone.
 */
export function chartsOf(items: readonly Item[], measure: Measure): Item[][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const unit = item.unit === '' ? `meter ${item.meter_id}` : `unit ${item.unit}`;
    const key = { cost: item.currency, usage: unit, events: '' }[measure];
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return [...groups.values()];
}

/** What a chart of several is called: its currency, its only meter, or the unit of its meters. */
export function chartTitleOf(items: readonly Item[], measure: Measure): string {
  if (measure === 'cost') return formatCurrency(items[0]?.currency ?? '');
  const names = new Set(items.map(({ name }) => name));
  const [first] = items;
  const unit = first?.unit_plural || first?.unit || '';
  if (names.size === 1 || unit === '') return first?.name ?? '';
  return capitalized(unit);
}

/** Values of the largest items and of all others together, over the windows of the question. */
export function chartOf(
  items: readonly Item[],
  measure: Measure,
  asked: AskedWindows,
  now: string,
): { readonly times: readonly string[]; readonly series: Series[] } {
  const { times, isOf } = windowTimes(items, asked, now);
  const ordered = sorted(items, measure);
  const isCut = ordered.length > LINES_MAX + 1;
  const shown = isCut ? ordered.slice(0, LINES_MAX) : ordered;
  const rest = isCut ? ordered.slice(LINES_MAX) : [];
  const seriesOf = (name: string, of: readonly Item[]): Series => {
    const byTime = of.map(
      ({ points }) => new Map((points ?? []).map((point) => [point.timestamp, point])),
    );
    const values = times.map((time) => {
      const points = byTime.flatMap((found) => found.get(time) ?? []);
      if (points.length === 0) return of.some((item) => isOf(item, time)) ? '0' : null;
      const measured = points.map((point) =>
        decimal(measure === 'events' ? String(point.event_count) : point[measure]),
      );
      return decimalText(sum(measured));
    });
    return { name, values };
  };
  const names = new Map<string, number>();
  const series = shown.map((item) => {
    const title = titleOf(item);
    const times = (names.get(title) ?? 0) + 1;
    names.set(title, times);
    return seriesOf(times === 1 ? title : `${title} (${times})`, [item]);
  });
  return {
    times,
    series: rest.length === 0 ? series : [...series, seriesOf(`${rest.length} others`, rest)],
  };
}

/** How much more or less than before, in percent with one decimal; null without a value before. */
export function changeOf(now: string, before: string | undefined): string | null {
  if (before === undefined || decimal(before).isZero()) return null;
  return decimal(now).minus(before).div(before).times(100).toFixed(1);
}
