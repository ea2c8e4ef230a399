import type { Route } from '../platform/http/route.ts';
import { addonRoutes } from './addons/routes.ts';
import { alertRoutes } from './alerts/routes.ts';
import { apiKeyRoutes } from './api-keys/routes.ts';
import { auditLogRoutes } from './audit-logs/routes.ts';
import { authRoutes } from './auth/routes.ts';
import { correctionRoutes } from './corrections/routes.ts';
import { connectionRoutes } from './connections/routes.ts';
import { costRoutes } from './costs/routes.ts';
import { couponRoutes } from './coupons/routes.ts';
import { creditGrantRoutes } from './credit-grants/routes.ts';
import { customerRoutes } from './customers/routes.ts';
import { customerViewRoutes } from './customers/view-routes.ts';
import { dashboardRoutes } from './dashboard/routes.ts';
import type { ApiDeps } from './deps.ts';
import { entitlementRoutes } from './entitlements/routes.ts';
import { environmentRoutes } from './environments/routes.ts';
import { erasureRoutes } from './erasures/routes.ts';
import { eventRoutes } from './events/routes.ts';
import { exportRoutes } from './exports/routes.ts';
import { featureRoutes } from './features/routes.ts';
import { groupRoutes } from './groups/routes.ts';
import { integrationRoutes } from './integrations/routes.ts';
import { invoiceRoutes } from './invoices/routes.ts';
import { meterRoutes } from './meters/routes.ts';
import { planRoutes } from './plans/routes.ts';
import { portalRoutes } from './portal/routes.ts';
import { priceUnitRoutes } from './price-units/routes.ts';
import { priceRoutes } from './prices/routes.ts';
import { subscriptionRoutes } from './subscriptions/routes.ts';
import { subscriptionViewRoutes } from './subscriptions/view-routes.ts';
import { rbacRoutes } from './rbac/routes.ts';
import { scheduledTaskRoutes } from './scheduled-tasks/routes.ts';
import { settingRoutes } from './settings/routes.ts';
import { taskRoutes } from './tasks/routes.ts';
import { taxRoutes } from './taxes/routes.ts';
import { tenantRoutes } from './tenants/routes.ts';
import { usageRoutes } from './usage/routes.ts';
import { userRoutes } from './users/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';
import { workflowRoutes } from './workflows/routes.ts';

/** Every route of the billing API. A resource adds its list here, and exists. */
export const API_ROUTES: readonly Route<ApiDeps>[] = [
  ...authRoutes,
  ...tenantRoutes,
  ...environmentRoutes,
  ...userRoutes,
  ...rbacRoutes,
  ...apiKeyRoutes,
  ...settingRoutes,
  ...auditLogRoutes,
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
  ...costRoutes,
  ...customerRoutes,
  ...erasureRoutes,
  ...customerViewRoutes,
  ...portalRoutes,
  ...subscriptionRoutes,
  ...subscriptionViewRoutes,
  ...invoiceRoutes,
  ...alertRoutes,
  ...connectionRoutes,
  ...integrationRoutes,
  ...scheduledTaskRoutes,
  ...webhookRoutes,
  ...workflowRoutes,
  ...dashboardRoutes,
  ...correctionRoutes,
  ...eventRoutes,
  ...usageRoutes,
  ...taskRoutes,
  ...exportRoutes,
];
