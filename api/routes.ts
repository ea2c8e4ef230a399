import type { Route } from '../platform/http/route.ts';
import { addonRoutes } from './catalog/addons/routes.ts';
import { alertRoutes } from './billing/alerts/routes.ts';
import { apiKeyRoutes } from './tenancy/api-keys/routes.ts';
import { doctorRoutes } from './operations/doctor/routes.ts';
import { environmentSeedRoutes } from './operations/environment-seeds/routes.ts';
import { savedViewRoutes } from './operations/saved-views/routes.ts';
import { requestLogRoutes } from './operations/request-logs/routes.ts';
import { timelineRoutes } from './operations/timeline/routes.ts';
import { auditLogRoutes } from './operations/audit-logs/routes.ts';
import { authRoutes } from './tenancy/auth/routes.ts';
import { correctionRoutes } from './usage/corrections/routes.ts';
import { connectionRoutes } from './tenancy/connections/routes.ts';
import { costRoutes } from './catalog/costs/routes.ts';
import { couponRoutes } from './catalog/coupons/routes.ts';
import { creditNoteRoutes } from './billing/credit-notes/routes.ts';
import { creditGrantRoutes } from './catalog/credit-grants/routes.ts';
import { grantRoutes } from './billing/grants/routes.ts';
import { customerRoutes } from './customers/customers/routes.ts';
import { customerDeletionRoutes } from './billing/customer-deletion/routes.ts';
import { customerViewRoutes } from './billing/customer-views/routes.ts';
import { dashboardRoutes } from './billing/dashboard/routes.ts';
import { analyticsRoutes } from './billing/analytics/routes.ts';
import { eventHistoryRoutes } from './billing/event-history/routes.ts';
import { cloneEnvironmentRoutes } from './catalog/clone-environment/routes.ts';
import { taxAssociationRoutes } from './customers/tax-associations/routes.ts';
import type { ApiDeps } from './deps.ts';
import { entitlementRoutes } from './catalog/entitlements/routes.ts';
import { environmentRoutes } from './tenancy/environments/routes.ts';
import { erasureRoutes } from './usage/erasures/routes.ts';
import { eventRoutes } from './usage/events/routes.ts';
import { exportRoutes } from './operations/exports/routes.ts';
import { featureRoutes } from './catalog/features/routes.ts';
import { groupRoutes } from './catalog/groups/routes.ts';
import { integrationRoutes } from './tenancy/integrations/routes.ts';
import { invoicePdfRoutes } from './billing/invoice-pdf/routes.ts';
import { invoiceRoutes } from './billing/invoices/routes.ts';
import { lateUsageRoutes } from './billing/late-usage/routes.ts';
import { invoicePaymentRoutes } from './billing/invoices/payment-routes.ts';
import { checkoutPageRoutes } from './billing/checkout/page-routes.ts';
import { checkoutRoutes } from './billing/checkout/routes.ts';
import { connectionEndRoutes } from './billing/connections/routes.ts';
import { gatewayRoutes } from './billing/payments/gateway-routes.ts';
import { paymentMethodRoutes } from './billing/payment-methods/routes.ts';
import { paymentRoutes } from './billing/payments/routes.ts';
import { meterRoutes } from './catalog/meters/routes.ts';
import { planRoutes } from './catalog/plans/routes.ts';
import { portalPaymentRoutes } from './billing/portal/payment-routes.ts';
import { portalRoutes } from './billing/portal/routes.ts';
import { priceUnitRoutes } from './catalog/price-units/routes.ts';
import { priceRoutes } from './catalog/prices/routes.ts';
import { pauseRoutes } from './billing/subscriptions/pauses/routes.ts';
import { phaseRoutes } from './billing/subscriptions/phase-routes.ts';
import { subscriptionRoutes } from './billing/subscriptions/routes.ts';
import { subscriptionAddonRoutes } from './billing/subscriptions/changes/addon-routes.ts';
import { lineItemRoutes } from './billing/subscriptions/changes/line-item-routes.ts';
import { modifyRoutes } from './billing/subscriptions/changes/modify-routes.ts';
import { cancelRoutes } from './billing/subscriptions/changes/cancel-routes.ts';
import { planChangeRoutes } from './billing/subscriptions/changes/plan-change-routes.ts';
import { previewRoutes } from './billing/subscriptions/previews/routes.ts';
import { scheduleRoutes } from './billing/subscriptions/changes/schedule-routes.ts';
import { subscriptionViewRoutes } from './billing/subscriptions/view-routes.ts';
import { refundRoutes } from './billing/refunds/routes.ts';
import { rbacRoutes } from './tenancy/rbac/routes.ts';
import { priceSyncRoutes } from './operations/price-sync/routes.ts';
import { scheduledTaskRoutes } from './operations/scheduled-tasks/routes.ts';
import { settingRoutes } from './tenancy/settings/routes.ts';
import { taskRoutes } from './operations/tasks/routes.ts';
import { taxRoutes } from './catalog/taxes/routes.ts';
import { testClockRoutes } from './billing/test-clocks/routes.ts';
import { tenantRoutes } from './tenancy/tenants/routes.ts';
import { usageRoutes } from './usage/quantities/routes.ts';
import { userRoutes } from './tenancy/users/routes.ts';
import { walletRoutes } from './billing/wallets/routes.ts';
import { webhookRoutes } from './operations/webhooks/routes.ts';
import { workflowRoutes } from './operations/workflows/routes.ts';

/** Every route of the billing API. Each resource adds its list here. */
export const API_ROUTES: readonly Route<ApiDeps>[] = [
  ...authRoutes,
  ...tenantRoutes,
  ...environmentRoutes,
  ...cloneEnvironmentRoutes,
  ...environmentSeedRoutes,
  ...userRoutes,
  ...rbacRoutes,
  ...apiKeyRoutes,
  ...settingRoutes,
  ...auditLogRoutes,
  ...timelineRoutes,
  ...requestLogRoutes,
  ...savedViewRoutes,
  ...doctorRoutes,
  ...meterRoutes,
  ...featureRoutes,
  ...planRoutes,
  ...priceUnitRoutes,
  ...priceRoutes,
  ...entitlementRoutes,
  ...addonRoutes,
  ...creditGrantRoutes,
  ...groupRoutes,
  ...couponRoutes,
  ...taxRoutes,
  ...taxAssociationRoutes,
  ...costRoutes,
  ...testClockRoutes,
  ...customerRoutes,
  ...customerDeletionRoutes,
  ...erasureRoutes,
  ...customerViewRoutes,
  ...portalRoutes,
  ...portalPaymentRoutes,
  ...subscriptionRoutes,
  ...phaseRoutes,
  ...pauseRoutes,
  ...priceSyncRoutes,
  ...lineItemRoutes,
  ...modifyRoutes,
  ...cancelRoutes,
  ...planChangeRoutes,
  ...previewRoutes,
  ...scheduleRoutes,
  ...subscriptionAddonRoutes,
  ...subscriptionViewRoutes,
  ...invoiceRoutes,
  ...lateUsageRoutes,
  ...invoicePaymentRoutes,
  ...paymentRoutes,
  ...paymentMethodRoutes,
  ...gatewayRoutes,
  ...checkoutRoutes,
  ...checkoutPageRoutes,
  ...creditNoteRoutes,
  ...refundRoutes,
  ...grantRoutes,
  ...walletRoutes,
  ...invoicePdfRoutes,
  ...alertRoutes,
  ...connectionRoutes,
  ...connectionEndRoutes,
  ...integrationRoutes,
  ...scheduledTaskRoutes,
  ...webhookRoutes,
  ...workflowRoutes,
  ...dashboardRoutes,
  ...correctionRoutes,
  ...eventRoutes,
  ...eventHistoryRoutes,
  ...usageRoutes,
  ...analyticsRoutes,
  ...taskRoutes,
  ...exportRoutes,
];
