import { PORTAL_USAGE_PARTS, type PortalUsagePage } from '../../../schemas/portal-page.ts';
import {
  CUSTOMER_PORTAL_CONFIG_DEFAULT,
  CustomerPortalConfig,
} from '../../../schemas/settings/portal.ts';
import { PORTAL_RANGES } from '../../../schemas/words.ts';

type Sections = NonNullable<CustomerPortalConfig['sections']>;

/**
 * What the page of usage shows. A section without parts, or a setting without the section, shows what the default
 * shows; a part that is switched off is left out.
 */
export function usagePageOf(sections: Sections): PortalUsagePage {
  const stored = tabsOf(sections);
  const tabs = stored.length === 0 ? DEFAULT_TABS : stored;
  const shown = tabs.filter(({ enabled }) => enabled).sort((a, b) => a.order - b.order);
  const graph = settingsOf('usage_graph', tabs).usage_graph!;
  const cards = settingsOf('metric_cards', tabs).metric_cards!;
  const { default_preset, allow_custom_date_range, feature_filter_mode } = graph;
  // A value that was stored when any word was accepted may have other words.
  const known = graph.date_presets.filter((name) => RANGES.has(name));
  const ranges = known.length === 0 ? FALLBACK_RANGES : known;
  return {
    parts: shown.flatMap(({ type }) => PORTAL_USAGE_PARTS.find((part) => part === type) ?? []),
    ranges: [...new Set(ranges)],
    first_range: ranges.find((name) => name === default_preset) ?? ranges[0]!,
    may_choose_days: allow_custom_date_range,
    only_included: feature_filter_mode === 'inc',
    shows_spend: cards.show_revenue_metric,
    shows_quantities: cards.show_custom_metrics,
  };
}

type Tab = Sections[number]['tabs'][number];

const tabsOf = (sections: Sections): readonly Tab[] =>
  sections.find(({ id }) => id === 'usage')?.tabs ?? [];

const RANGES: ReadonlySet<string> = new Set(PORTAL_RANGES);
const DEFAULT_TABS = tabsOf(
  CustomerPortalConfig.parse(CUSTOMER_PORTAL_CONFIG_DEFAULT).sections ?? [],
);
const FALLBACK_RANGES = DEFAULT_TABS.flatMap((tab) => tab.usage_graph?.date_presets ?? []);

/** The tab of the type with its settings; those of the default where it has none. */
function settingsOf(type: 'usage_graph' | 'metric_cards', tabs: readonly Tab[]): Tab {
  const has = (tab: Tab): boolean => tab.type === type && tab[type] != null;
  return tabs.find(has) ?? DEFAULT_TABS.find(has)!;
}
