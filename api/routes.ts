import type { Route } from '../platform/http/route.ts';
import type { BillingDeps } from './deps.ts';

/** Every route of the billing API. A resource adds its list here, and exists. */
export const API_ROUTES: readonly Route<BillingDeps>[] = [];
