import { routesOf } from '../../platform/http/route.ts';
import type { ApiDeps } from '../deps.ts';

/** Declares a route of the billing API. */
export const route = routesOf<ApiDeps>();
