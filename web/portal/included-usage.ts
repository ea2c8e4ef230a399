interface Used {
  readonly items: readonly { readonly meter_id: string }[];
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
