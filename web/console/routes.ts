import {
  Activity,
  ArrowLeftRight,
  ChartLine,
  Clock,
  CreditCard,
  FileText,
  Gauge,
  Group,
  History,
  House,
  KeyRound,
  Layers,
  PackagePlus,
  Percent,
  Plug,
  Repeat,
  Scale,
  ScrollText,
  Settings,
  Stethoscope,
  Tag,
  TicketPercent,
  ToggleRight,
  UserCog,
  Users,
  Wallet,
  Webhook,
  type LucideIcon,
} from 'lucide-react';
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
  /** A person without it is not offered the page, and is told so at its address. */
  readonly permission?: Permission;
  /** The page whose entry of the menu is marked, if the address does not begin with it. */
  readonly entry?: string;
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
  { path: '/events', load: () => import('../pages/events/events.tsx'), permission: 'event:read', menu: { section: 'Usage', label: 'Events', icon: Activity, key: 'e' } },
  { path: '/events/$id', load: () => import('../pages/events/event.tsx'), permission: 'event:read' },
  { path: '/meters', load: () => import('../pages/meters/meters.tsx'), permission: 'meter:read', menu: { section: 'Usage', label: 'Meters', icon: Gauge, key: 'm' } },
  { path: '/meters/new', load: () => import('../pages/meters/new-meter.tsx'), permission: 'meter:write' },
  { path: '/meters/$id', load: () => import('../pages/meters/meter.tsx'), permission: 'meter:read' },
  { path: '/meters/$id/edit', load: () => import('../pages/meters/edit-meter.tsx'), permission: 'meter:write' },
  { path: '/customers', load: () => import('../pages/customers/customer-list.tsx'), permission: 'customer:read', menu: { section: 'Billing', label: 'Customers', icon: Users, key: 'c' } },
  { path: '/customers/new', load: () => import('../pages/customers/new-customer.tsx'), permission: 'customer:write' },
  { path: '/customers/$id', load: () => import('../pages/customers/customer.tsx'), permission: 'customer:read' },
  { path: '/customers/$id/edit', load: () => import('../pages/customers/edit-customer.tsx'), permission: 'customer:write' },
  { path: '/subscriptions', load: () => import('../pages/subscriptions/subscription-list.tsx'), permission: 'subscription:read', menu: { section: 'Billing', label: 'Subscriptions', icon: Repeat, key: 's' } },
  { path: '/subscriptions/new', load: () => import('../pages/subscriptions/new-subscription.tsx'), permission: 'subscription:write' },
  { path: '/subscriptions/$id', load: () => import('../pages/subscriptions/subscription.tsx'), permission: 'subscription:read' },
  { path: '/invoices', load: () => import('../pages/invoices/invoice-list.tsx'), permission: 'invoice:read', menu: { section: 'Billing', label: 'Invoices', icon: FileText, key: 'i' } },
  { path: '/invoices/new', load: () => import('../pages/invoices/new-invoice.tsx'), permission: 'invoice:write' },
  { path: '/invoices/$id', load: () => import('../pages/invoices/invoice.tsx'), permission: 'invoice:read' },
  { path: '/late-usage', load: () => import('../pages/late-usage/late-usage-list.tsx'), permission: 'invoice:read', entry: '/invoices' },
  { path: '/late-usage/$id', load: () => import('../pages/late-usage/late-usage-of-invoice.tsx'), permission: 'invoice:read', entry: '/invoices' },
  { path: '/payments', load: () => import('../pages/payments/payment-list.tsx'), permission: 'payment:read', menu: { section: 'Billing', label: 'Payments', icon: CreditCard, key: 'y' } },
  { path: '/wallets', load: () => import('../pages/wallets/wallet-list.tsx'), permission: 'wallet:read', menu: { section: 'Billing', label: 'Wallets', icon: Wallet, key: 'w' } },
  { path: '/wallets/new', load: () => import('../pages/wallets/new-wallet.tsx'), permission: 'wallet:write' },
  { path: '/wallets/$id', load: () => import('../pages/wallets/wallet.tsx'), permission: 'wallet:read' },
  { path: '/wallets/$id/edit', load: () => import('../pages/wallets/edit-wallet.tsx'), permission: 'wallet:write' },
  { path: '/plans', load: () => import('../pages/plans/plan-list.tsx'), permission: 'plan:read', menu: { section: 'Catalog', label: 'Plans', icon: Tag, key: 'p' } },
  { path: '/features', load: () => import('../pages/features/feature-list.tsx'), permission: 'feature:read', menu: { section: 'Catalog', label: 'Features', icon: ToggleRight, key: 'f' } },
  { path: '/features/new', load: () => import('../pages/features/new-feature.tsx'), permission: 'feature:write' },
  { path: '/features/$id', load: () => import('../pages/features/feature.tsx'), permission: 'feature:read' },
  { path: '/plans/$id', load: () => import('../pages/plans/plan.tsx'), permission: 'plan:read' },
  { path: '/plans/$id/prices/new', load: () => import('../pages/plans/new-price.tsx'), permission: 'price:write' },
  { path: '/addons', load: () => import('../pages/addons/addon-list.tsx'), permission: 'addon:read', menu: { section: 'Catalog', label: 'Addons', icon: PackagePlus, key: 'j' } },
  { path: '/addons/$id', load: () => import('../pages/addons/addon.tsx'), permission: 'addon:read' },
  { path: '/addons/$id/prices/new', load: () => import('../pages/addons/new-price.tsx'), permission: 'price:write' },
  { path: '/price-groups', load: () => import('../pages/price-groups/price-group-list.tsx'), permission: 'group:read', menu: { section: 'Catalog', label: 'Price groups', icon: Group } },
  { path: '/price-groups/$id', load: () => import('../pages/price-groups/price-group.tsx'), permission: 'group:read' },
  { path: '/coupons', load: () => import('../pages/coupons/coupon-list.tsx'), permission: 'coupon:read', menu: { section: 'Catalog', label: 'Coupons', icon: TicketPercent, key: 'q' } },
  { path: '/coupons/$id', load: () => import('../pages/coupons/coupon.tsx'), permission: 'coupon:read' },
  { path: '/tax-rates', load: () => import('../pages/tax-rates/tax-rate-list.tsx'), permission: 'tax:read', menu: { section: 'Catalog', label: 'Tax rates', icon: Percent, key: 'z' } },
  { path: '/tax-rates/$id', load: () => import('../pages/tax-rates/tax-rate.tsx'), permission: 'tax:read' },
  { path: '/cost-sheets', load: () => import('../pages/cost-sheets/cost-sheet-list.tsx'), permission: 'costsheet:read', menu: { section: 'Catalog', label: 'Cost sheets', icon: Scale } },
  { path: '/cost-sheets/$id', load: () => import('../pages/cost-sheets/cost-sheet.tsx'), permission: 'costsheet:read' },
  { path: '/cost-sheets/$id/prices/new', load: () => import('../pages/cost-sheets/new-price.tsx'), permission: 'price:write' },
  { path: '/analytics', load: () => import('../pages/analytics/analytics.tsx'), permission: 'event:read', menu: { section: 'Usage', label: 'Analytics', icon: ChartLine, key: 'a' } },
  { path: '/api-keys', load: () => import('../pages/api-keys/api-keys.tsx'), permission: 'secret:read', menu: { section: 'Developers', label: 'API keys', icon: KeyRound, key: 'k' } },
  { path: '/webhooks', load: () => import('../pages/webhooks/webhooks.tsx'), permission: 'webhook:read', menu: { section: 'Developers', label: 'Webhooks', icon: Webhook, key: 'n' } },
  { path: '/webhooks/$id', load: () => import('../pages/webhooks/endpoint.tsx'), permission: 'webhook:read' },
  { path: '/connections', load: () => import('../pages/connections/connections.tsx'), permission: 'connection:read', menu: { section: 'Developers', label: 'Connections', icon: Plug, key: 'b' } },
  { path: '/test-clocks', load: () => import('../pages/test-clocks/test-clock-list.tsx'), permission: 'testclock:read', menu: { section: 'Developers', label: 'Test clocks', icon: Clock, key: 'x' } },
  { path: '/test-clocks/$id', load: () => import('../pages/test-clocks/test-clock.tsx'), permission: 'testclock:read' },
  { path: '/request-log', load: () => import('../pages/request-log/request-log.tsx'), permission: 'request_log:read', menu: { section: 'Developers', label: 'Request log', icon: ScrollText, key: 'r' } },
  { path: '/audit-log', load: () => import('../pages/audit-log/audit-log.tsx'), permission: 'audit_log:read', menu: { section: 'Developers', label: 'Audit log', icon: History, key: 'l' } },
  { path: '/tasks', load: () => import('../pages/tasks/tasks.tsx'), permission: 'task:read', menu: { section: 'Developers', label: 'Imports and exports', icon: ArrowLeftRight, key: 't' } },
  { path: '/scheduled-exports/$id', load: () => import('../pages/scheduled-exports/scheduled-export.tsx'), permission: 'task:read', entry: '/tasks' },
  { path: '/people', load: () => import('../pages/people/people.tsx'), permission: 'user:read', menu: { section: 'Developers', label: 'People', icon: UserCog, key: 'u' } },
  { path: '/settings', load: () => import('../pages/settings/settings.tsx'), permission: 'setting:read', menu: { section: 'Developers', label: 'Settings', icon: Settings, key: 'o' } },
  { path: '/environments', load: () => import('../pages/environments/environments.tsx'), permission: 'environment:read', menu: { section: 'Developers', label: 'Environments', icon: Layers, key: 'v' } },
  { path: '/doctor', load: () => import('../pages/doctor/doctor.tsx'), permission: 'doctor:read', menu: { section: 'Developers', label: 'Doctor', icon: Stethoscope, key: 'd' } },
];

/** Begins to load the code of the page that an address below `/env/…` names. */
export function preloadPageAt(address: string): void {
  const path = address.replace(/^\/env\/[^/]+/, '').replace(/\/$/, '') || '/';
  const segments = path.split('/');
  const isNamed = (route: ConsoleRoute): boolean => {
    const names = route.path.split('/');
    return (
      names.length === segments.length &&
      names.every((name, at) =>
        name.startsWith('$') ? segments[at] !== '' : name === segments[at],
      )
    );
  };
  // A literal path comes before one with a parameter: `/meters/new` is no meter.
  const named = ROUTES.filter(isNamed).sort(
    (a, b) => a.path.split('$').length - b.path.split('$').length,
  );
  // The router loads it again if this fails, and shows why.
  if (address.startsWith('/env/')) named[0]?.load().catch(() => undefined);
}
