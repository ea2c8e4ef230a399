import { fileURLToPath } from 'node:url';
import { registerApi } from '../api/app.ts';
import type { FillEnvironment } from '../api/deps.ts';
import { readMostParts } from '../clickhouse/reading/most-parts.ts';
import { createEventReader } from '../clickhouse/reading/event-reader.ts';
import { INGEST_OPERATIONS } from '../ingest/routes.ts';
import { publicUrlOf, signUpOf } from '../platform/config.ts';
import { createApiClient } from './demo/api-client.ts';
import type { HttpPart } from './http-role.ts';
import { analyticsLimits, type Runtime } from './runtime.ts';
import { seedTenant } from './seed/seed-tenant.ts';

/** The build puts the pages beside the compiled sources. */
const PAGES = fileURLToPath(new URL('../web', import.meta.url));

/** After a pause of this length a caller may make this many seconds' worth of requests at once. */
const BURST_SECONDS = 2;

/** Limits of one browser with an open portal page (tenancy 14.6). */
const PORTAL = { perSecond: 20, burst: 60 };
/** Limits of one address without a credential; each login costs the hash of a password. */
const ANONYMOUS = { perSecond: 50, burst: 200 };

/** The billing API as a part of a server. */
export async function apiPart(runtime: Runtime): Promise<HttpPart> {
  const deps = await runtime.billingDeps();
  const { authenticate } = await runtime.apiKeyAuth();
  const perSecond = runtime.config.API_REQUESTS_PER_SECOND;
  const cache = await runtime.cache();
  const { limiter } = cache;
  const limit = { perSecond, burst: perSecond * BURST_SECONDS };
  const callerLimit =
    perSecond === 0 ? null : { limiter, limit, portal: PORTAL, anonymous: ANONYMOUS };
  const { SINGLE_SIGN_ON, SERVE_DOCS, SUPPORT_CHAT_SECRET } = runtime.config;
  const eventReader = createEventReader(runtime.clickhouse(), {
    analytics: analyticsLimits(runtime.config),
    turnsPerTenant: runtime.config.ANALYTICS_PER_TENANT,
  });
  const servedElsewhere = INGEST_OPERATIONS;
  const openEventLog = () => runtime.eventLog();
  const publicUrl = publicUrlOf(runtime.config);
  const options = {
    deps,
    apiPool: await runtime.apiPool(),
    eventReader,
    cache,
    mostParts: () => readMostParts(runtime.clickhouse()),
    openEventLog,
    authenticate,
    requestLog: runtime.requestLog(),
    callerLimit,
    servedElsewhere,
    publicUrl,
    fillEnvironment: fillThrough(publicUrl),
    singleSignOn: SINGLE_SIGN_ON,
    sendsEmail: runtime.config.SMTP_URL !== undefined,
    signUp: signUpOf(runtime.config),
    recentLoginMinutes: runtime.config.RECENT_LOGIN_MINUTES,
    supportChatSecret: SUPPORT_CHAT_SECRET ?? null,
    serveDocs: SERVE_DOCS,
    pagesDirectory: PAGES,
  };
  return {
    register: (app) => registerApi(app, options),
    close: async () => {},
  };
}

/** Events and the API are reached at one address, also where two roles serve them. */
const fillThrough =
  (baseUrl: string): FillEnvironment =>
  ({ api_key, ...options }) =>
    seedTenant(createApiClient(baseUrl, api_key), options);
