import { registerApi } from '../api/app.ts';
import { createEventReader } from '../clickhouse/event-reader.ts';
import { INGEST_OPERATIONS } from '../ingest/routes.ts';
import type { HttpPart } from './http-role.ts';
import { analyticsLimits, type Runtime } from './runtime.ts';

/** A pause of this length lets a caller make this many seconds' worth of requests at once. */
const BURST_SECONDS = 2;

/** The billing API as a part of a server. */
export async function apiPart(runtime: Runtime): Promise<HttpPart> {
  const deps = await runtime.billingDeps();
  const { authenticate } = await runtime.apiKeyAuth();
  const perSecond = runtime.config.API_REQUESTS_PER_SECOND;
  const { limiter } = await runtime.cache();
  const callerLimit =
    perSecond === 0 ? null : { limiter, limit: { perSecond, burst: perSecond * BURST_SECONDS } };
  const eventReader = createEventReader(runtime.clickhouse(), {
    analytics: analyticsLimits(runtime.config),
    turnsPerTenant: runtime.config.ANALYTICS_PER_TENANT,
  });
  const servedElsewhere = INGEST_OPERATIONS;
  const openEventLog = () => runtime.eventLog();
  const options = {
    deps,
    eventReader,
    openEventLog,
    authenticate,
    callerLimit,
    servedElsewhere,
  };
  return {
    register: (app) => registerApi(app, options),
    close: async () => {},
  };
}
