import { sumOf } from '../app/billing/amounts.ts';
import { isZero } from '../app/billing/zero.ts';

interface Used {
  readonly items: readonly {
    readonly meter_id: string;
    readonly name: string;
    readonly currency: string;
    readonly total_cost: string;
  }[];
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

/**
 * The usage that is not shown and has a charge, by currency: its names and its charge. With it, the charges that are
 * shown add up to the charge of all usage.
 */
export function othersOf<Usage extends Used>(
  all: Usage,
  shown: Usage,
): { readonly currency: string; readonly names: readonly string[]; readonly charge: string }[] {
  const others = all.items.filter((item) => !shown.items.includes(item));
  const priced = others.filter(({ total_cost }) => !isZero(total_cost));
  return [...new Set(priced.map(({ currency }) => currency))].map((currency) => {
    const items = priced.filter((item) => item.currency === currency);
    return {
      currency,
      names: [...new Set(items.map(({ name }) => name))],
      charge: sumOf(items.map(({ total_cost }) => total_cost)),
    };
  });
}
