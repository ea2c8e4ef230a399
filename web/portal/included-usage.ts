import { sumOf } from '../app/billing/amounts.ts';

interface Used {
  readonly items: readonly { readonly meter_id: string; readonly total_cost: string }[];
}
interface Feature {
  readonly is_enabled: boolean;
  readonly feature: { readonly type: string; readonly meter_id: string };
}

/** Usage of the features that the plans include; all of it if they include none that is metered. */
export function ofIncluded<Usage extends Used>(usage: Usage, features: readonly Feature[]): Usage {
  const meters = new Set(
    features.flatMap(({ feature, is_enabled }) =>
      feature.type === 'metered' && is_enabled ? [feature.meter_id] : [],
    ),
  );
  if (meters.size === 0) return usage;
  return { ...usage, items: usage.items.filter(({ meter_id }) => meters.has(meter_id)) };
}

/** What the usage costs that is not shown: with it, the costs that are shown add up to the cost of all usage. */
export const costOfOthers = <Usage extends Used>(all: Usage, shown: Usage): string =>
  sumOf(
    all.items.filter((item) => !shown.items.includes(item)).map(({ total_cost }) => total_cost),
  );
