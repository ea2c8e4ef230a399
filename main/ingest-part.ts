import { ingestRoutes } from '../ingest/routes.ts';
import { createSessions } from '../platform/identity/sessions.ts';
import { createEventFilters } from '../postgres/tables/event-filters.ts';
import { createCustomerTimes } from '../postgres/tables/test-clocks.ts';
import type { HttpPart } from './http-role.ts';
import type { Runtime } from './runtime.ts';

/** After a pause of this length a tenant may send this many seconds' worth of requests at once. */
const BURST_SECONDS = 2;

/** Limits per address. */
const REFUSED_CREDENTIALS = { perSecond: 50, burst: 200 };

/** The ingest edge as a part of a server. */
export async function ingestPart(runtime: Runtime): Promise<HttpPart> {
  const { clock, ids, log, registry, config } = runtime;
  const perSecond = config.INGEST_EVENTS_PER_SECOND;
  const limits =
    perSecond === 0
      ? null
      : {
          limiter: (await runtime.cache()).limiter,
          perTenant: { perSecond, burst: perSecond * BURST_SECONDS },
        };
  const failures = { limiter: (await runtime.cache()).limiter, limit: REFUSED_CREDENTIALS };
  const { authenticate } = await runtime.apiKeyAuth();
  const sessions = await createSessions({
    ...runtime,
    recentLoginMinutes: runtime.config.RECENT_LOGIN_MINUTES,
  });
  const eventLog = await runtime.eventLog();
  const routes = ingestRoutes({
    log: eventLog,
    authenticate,
    sessions,
    limits,
    failures,
    clock,
    customerTimes: createCustomerTimes(runtime.pool),
    filters: createEventFilters(runtime.pool, clock),
    ids,
    metrics: registry,
    logger: log,
    requestLog: runtime.requestLog(),
  });
  return {
    async register(app) {
      await app.register(routes);
    },
    close: async () => {},
  };
}
