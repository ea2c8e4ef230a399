import { FileText, House, type LucideIcon } from 'lucide-react';
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
  { path: '/invoices', load: () => import('../pages/invoices/invoice-list.tsx'), permission: 'invoice:read', menu: { section: 'Billing', label: 'Invoices', icon: FileText, key: 'i' } },
  { path: '/invoices/$id', load: () => import('../pages/invoices/invoice.tsx'), permission: 'invoice:read' },
];
