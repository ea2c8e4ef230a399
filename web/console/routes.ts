import { FileText, House, Repeat, Tag, Users, Wallet, type LucideIcon } from 'lucide-react';
import type { ComponentType } from 'react';
import type { Permission } from '../../domain/access/permissions.ts';

/** Sections of the menu, in its order. */
export const SECTIONS = ['Overview', 'Usage', 'Billing', 'Catalog', 'Developers'] as const;

/** A page of the console. Its code is loaded when it is first opened. */
export interface ConsoleRoute {
  /** Below the environment; parameters with a dollar sign: `/customers/$id`. */
  readonly path: string;
  /** Module with the component `View`. */
  readonly load: () => Promise<{ readonly View: ComponentType }>;
  /** A person without it is not offered the page. */
  readonly permission?: Permission;
  /** Entry of the menu; pages of single records have none. */
  readonly menu?: {
    readonly section: (typeof SECTIONS)[number];
    readonly label: string;
    readonly icon: LucideIcon;
    /** Opens the page after `g`. */
    readonly key?: string;
  };
}

/** Every page of the console, one line each, in the order of the menu. */
// prettier-ignore
export const ROUTES: readonly ConsoleRoute[] = [
  { path: '/', load: () => import('../pages/home/home.tsx'), menu: { section: 'Overview', label: 'Home', icon: House, key: 'h' } },
  { path: '/customers', load: () => import('../pages/customers/customer-list.tsx'), permission: 'customer:read', menu: { section: 'Billing', label: 'Customers', icon: Users, key: 'c' } },
  { path: '/customers/new', load: () => import('../pages/customers/new-customer.tsx'), permission: 'customer:write' },
  { path: '/customers/$id', load: () => import('../pages/customers/customer.tsx'), permission: 'customer:read' },
  { path: '/subscriptions', load: () => import('../pages/subscriptions/subscription-list.tsx'), permission: 'subscription:read', menu: { section: 'Billing', label: 'Subscriptions', icon: Repeat, key: 's' } },
  { path: '/subscriptions/new', load: () => import('../pages/subscriptions/new-subscription.tsx'), permission: 'subscription:write' },
  { path: '/subscriptions/$id', load: () => import('../pages/subscriptions/subscription.tsx'), permission: 'subscription:read' },
  { path: '/invoices', load: () => import('../pages/invoices/invoice-list.tsx'), permission: 'invoice:read', menu: { section: 'Billing', label: 'Invoices', icon: FileText, key: 'i' } },
  { path: '/invoices/$id', load: () => import('../pages/invoices/invoice.tsx'), permission: 'invoice:read' },
  { path: '/wallets', load: () => import('../pages/wallets/wallet-list.tsx'), permission: 'wallet:read', menu: { section: 'Billing', label: 'Wallets', icon: Wallet, key: 'w' } },
  { path: '/wallets/new', load: () => import('../pages/wallets/new-wallet.tsx'), permission: 'wallet:write' },
  { path: '/wallets/$id', load: () => import('../pages/wallets/wallet.tsx'), permission: 'wallet:read' },
  { path: '/plans', load: () => import('../pages/plans/plan-list.tsx'), permission: 'plan:read', menu: { section: 'Catalog', label: 'Plans', icon: Tag, key: 'p' } },
  { path: '/plans/$id', load: () => import('../pages/plans/plan.tsx'), permission: 'plan:read' },
  { path: '/plans/$id/prices/new', load: () => import('../pages/plans/new-price.tsx'), permission: 'price:write' },
];
