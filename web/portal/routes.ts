import type { ComponentType } from 'react';
import type { PortalPage } from '../../schemas/portal-page.ts';

/** A page of the portal. Its code is loaded when it is first opened. */
export interface PortalRoute {
  /** Below the portal's address; parameters with a dollar sign. */
  readonly path: string;
  /** Module with the component `View`. */
  readonly load: () => Promise<{ readonly View: ComponentType }>;
  /** Text in the menu. Pages of single records have none; that of a section is its label. */
  readonly menu?: string;
  /** Section of the setting `customer_portal_config` that names, orders and hides the page. */
  readonly section?: PortalPage['id'];
}

/** The menu: the pages of the shown sections in their order, then the pages without a section. */
export const menuOf = (
  pages: readonly PortalPage[],
): readonly { readonly path: string; readonly label: string }[] => [
  ...pages.map(({ id, label }) => ({
    path: PORTAL_ROUTES.find(({ section }) => section === id)!.path,
    label,
  })),
  ...PORTAL_ROUTES.flatMap(({ path, menu }) => (menu === undefined ? [] : [{ path, label: menu }])),
];

/** Every page of the portal; the first of a section is its entry in the menu. */
// prettier-ignore
export const PORTAL_ROUTES: readonly PortalRoute[] = [
  { path: '/', load: () => import('./overview.tsx'), section: 'overview' },
  { path: '/usage', load: () => import('./usage.tsx'), section: 'usage' },
  { path: '/invoices', load: () => import('./invoice-list.tsx'), section: 'invoices' },
  { path: '/invoices/$id', load: () => import('./invoice.tsx'), section: 'invoices' },
  { path: '/wallets', load: () => import('./wallet-list.tsx'), section: 'credits' },
  { path: '/wallets/$id', load: () => import('./wallet.tsx'), section: 'credits' },
  { path: '/payment-methods', load: () => import('./payment-methods.tsx'), menu: 'Payment methods' },
  { path: '/subscriptions', load: () => import('./subscription-list.tsx'), menu: 'Subscriptions' },
  { path: '/subscriptions/$id', load: () => import('./subscription.tsx') },
];
