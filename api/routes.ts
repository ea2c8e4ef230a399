import type { Route } from '../platform/http/route.ts';
import { customerRoutes } from './customers/routes.ts';
import type { BillingDeps } from './deps.ts';
import { featureRoutes } from './features/routes.ts';
import { groupRoutes } from './groups/routes.ts';
import { meterRoutes } from './meters/routes.ts';

/** Every route of the billing API. A resource adds its list here, and exists. */
export const API_ROUTES: readonly Route<BillingDeps>[] = [
  ...meterRoutes,
  ...featureRoutes,
  ...groupRoutes,
  ...customerRoutes,
];
