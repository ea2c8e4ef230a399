import type { ComponentType } from 'react';

/** A page of the portal. Its code is loaded when it is first opened. */
export interface PortalRoute {
  /** Below the portal's address; parameters with a dollar sign. */
  readonly path: string;
  /** Module with the component `View`. */
  readonly load: () => Promise<{ readonly View: ComponentType }>;
  /** Text in the menu; pages of single records have none. */
  readonly menu?: string;
  /** Section of the setting `customer_portal_config` that can switch the page off. */
  readonly section?: string;
}

/** Entries of the menu that the tenant has not switched off. */
export const menuOf = (hidden: readonly string[]): readonly PortalRoute[] =>
  PORTAL_ROUTES.filter(({ menu, section = '' }) => menu !== undefined && !hidden.includes(section));

/** Every page of the portal, in the order of the menu. */
// prettier-ignore
export const PORTAL_ROUTES: readonly PortalRoute[] = [
  { path: '/', load: () => import('./overview.tsx'), menu: 'Overview' },
  { path: '/usage', load: () => import('./usage.tsx'), menu: 'Usage', section: 'usage' },
  { path: '/invoices', load: () => import('./invoice-list.tsx'), menu: 'Invoices', section: 'invoices' },
  { path: '/invoices/$id', load: () => import('./invoice.tsx') },
  { path: '/wallets', load: () => import('./wallet-list.tsx'), menu: 'Wallet', section: 'credits' },
  { path: '/wallets/$id', load: () => import('./wallet.tsx') },
  { path: '/payment-methods', load: () => import('./payment-methods.tsx'), menu: 'Payment methods' },
  { path: '/subscriptions', load: () => import('./subscription-list.tsx'), menu: 'Subscriptions' },
  { path: '/subscriptions/$id', load: () => import('./subscription.tsx') },
];
