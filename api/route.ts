import { routesOf } from '../platform/http/route.ts';
import type { BillingDeps } from './deps.ts';

/** Declares a route of the billing API. */
export const route = routesOf<BillingDeps>();
