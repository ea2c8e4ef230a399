import { PORTAL_PAGES, type PortalPage } from '../../../schemas/portal-page.ts';
import {
  CUSTOMER_PORTAL_CONFIG_DEFAULT,
  CustomerPortalConfig,
} from '../../../schemas/settings/portal.ts';

type Sections = NonNullable<CustomerPortalConfig['sections']>;

/**
 * The pages that the portal shows, in the order of the menu. A page without a section has the section of the default;
 * a section without a label is called as in the default.
 */
export function shownPagesOf(sections: Sections): PortalPage[] {
  return PORTAL_PAGES.map((id) => {
    const usual = sectionOf(DEFAULT_SECTIONS, id)!;
    const { label, enabled, order } = sectionOf(sections, id) ?? usual;
    return { id, label: label.trim() || usual.label, enabled, order };
  })
    .filter(({ enabled }) => enabled)
    .sort((a, b) => a.order - b.order)
    .map(({ id, label }) => ({ id, label }));
}

const sectionOf = (sections: Sections, id: string): Sections[number] | undefined =>
  sections.find((section) => section.id === id);

const DEFAULT_SECTIONS = CustomerPortalConfig.parse(CUSTOMER_PORTAL_CONFIG_DEFAULT).sections ?? [];
