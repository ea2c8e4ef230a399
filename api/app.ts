import type { FastifyInstance } from 'fastify';
import type { EventReader } from '../clickhouse/reading/event-reader.ts';
import type { EventLog } from '../platform/event-log/event-log.ts';
import type { Cache } from '../platform/cache/cache.ts';
import type { Authenticate } from '../platform/identity/api-key-auth.ts';
import { serveDocs, serveDocument } from '../platform/http/docs.ts';
import { servePages } from '../platform/http/pages.ts';
import {
  openApiDocument,
  openApiDocumentInSteps,
  type OpenApiOptions,
  type OpenApiVersion,
} from '../platform/http/openapi.ts';
import type { CallerLimit } from '../platform/http/rate-limit.ts';
import { RequestLog } from '../platform/http/request-log.ts';
import { registerRoutes } from '../platform/http/register-routes.ts';
import type { Route } from '../platform/http/route.ts';
import { createOutbound } from '../platform/outbound/guarded-request.ts';
import { createPdfRenderer, type PdfRenderer } from '../platform/pdf/pdf-renderer.ts';
import { createPortalSessions } from '../platform/identity/portal-sessions.ts';
import { createSessions } from '../platform/identity/sessions.ts';
import { createLoginLimit } from '../platform/identity/login-limit.ts';
import { logCorrections } from './usage/corrections/log-corrections.ts';
import type { Pool } from '../postgres/client.ts';
import type { ApiDeps, BillingDeps, FillEnvironment } from './deps.ts';
import { headsToRead } from '../domain/metering/log-heads.ts';
import { isUsageUnderRepair } from '../postgres/tables/stream-replays.ts';
import { readEnds } from '../postgres/tables/stream-epoch-ends.ts';
import { readLogHeads } from './read-log-heads.ts';
import { readersUntil } from './readers-until.ts';
import { readServiceFacts } from '../postgres/tables/service-facts.ts';
import { readStreamLag, type PartitionLag } from '../postgres/tables/stream-lag.ts';
import { findEmbedOrigins } from './billing/portal/embedding.ts';
import { servePortalSessions } from './billing/portal/page-sessions.ts';
import { createSeeder } from './operations/environment-seeds/seeder.ts';
import { serveBrowserSessions } from './tenancy/browser-sessions/routes.ts';
import { EXAMPLES } from './conventions/examples.ts';
import { API_ROUTES } from './routes.ts';
import { timeOfRequest } from './customers/test-clocks/time-of-request.ts';
import { withoutTrailing } from '../schemas/digits.ts';

export const API_PREFIX = '/v1';

/** Consumer group whose read position decides when a closed epoch is drained. */
const STREAM_GROUP = 'stream';

export interface ApiOptions {
  readonly deps: BillingDeps;
  readonly eventReader: EventReader;
  readonly cache: Pick<Cache, 'get' | 'set'>;
  /** See `ApiDeps.mostParts`. */
  readonly mostParts: ApiDeps['mostParts'];
  /** The pool from `connectAsApi`. */
  readonly apiPool?: Pool | null;
  readonly authenticate: Authenticate;
  /** Called when an event is appended for the first time; returns the same log every time. */
  readonly openEventLog: () => Promise<EventLog>;
  /** Prints documents; the API closes it. */
  readonly pdf?: PdfRenderer;
  /** Stores answered requests. The API closes the one that it makes itself. */
  readonly requestLog?: RequestLog;
  /** Replaces the heads of the event log, for tests without one. */
  readonly readLogHeads?: ApiDeps['readLogHeads'];
  readonly callerLimit?: CallerLimit | null;
  /**
   * Base URL at which browsers reach the product. Used in links and in the settings of identity providers.
   */
  readonly publicUrl?: string;
  /** Generates the data of `POST /environments/{id}/seed`; without it, each attempt fails. */
  readonly fillEnvironment?: FillEnvironment;
  /** False disables login through identity providers, even for tenants that have configured one. */
  readonly singleSignOn?: boolean;
  readonly sendsEmail?: boolean;
  /** `invited` disables creating a tenant by signing up. */
  readonly signUp?: 'open' | 'invited';
  /** How long after a login a person need not confirm the password again. */
  readonly recentLoginMinutes?: number;
  readonly supportChatSecret?: string | null;
  /** False disables the document and its page. */
  readonly serveDocs?: boolean;
  /** Routes that other roles serve under the same prefix, for the document. */
  readonly servedElsewhere?: readonly Route<never>[];
  /** Folder of the built pages; without it, or if it does not exist, only the API is served. */
  readonly pagesDirectory?: string;
  /** Called with each answer before it is sent. Tests validate it against the declared schema. */
  readonly onBody?: (route: Route<ApiDeps>, body: unknown) => void;
}

const NONE: readonly Route<never>[] = [];

/** Cache of documents. Each takes half a second of CPU and depends only on its key. */
const documents = new WeakMap<readonly Route<never>[], Map<OpenApiVersion, object>>();

/** The OpenAPI document of the product, built from the route lists. Built once per list; do not modify it. */
export function apiDocument(
  servedElsewhere: readonly Route<never>[] = NONE,
  openapi: OpenApiVersion = '3.0.1',
): object {
  const versions = documents.get(servedElsewhere) ?? new Map<OpenApiVersion, object>();
  documents.set(servedElsewhere, versions);
  const document =
    versions.get(openapi) ??
    openApiDocument(documentedRoutes(servedElsewhere), documentOptions(openapi));
  versions.set(openapi, document);
  return document;
}

const documentedRoutes = (servedElsewhere: readonly Route<never>[]): readonly Route<never>[] => [
  ...servedElsewhere,
  ...(API_ROUTES as readonly Route<never>[]),
];

const documentOptions = (openapi: OpenApiVersion): OpenApiOptions => ({
  openapi,
  title: 'Meterline',
  version: '1.0',
  description:
    'Usage-based billing: events in, exact invoices out. Every error has one body; every list is ' +
    'newest first and paged by limit and offset; amounts are decimals as text in main currency units.',
  prefix: API_PREFIX,
  examples: EXAMPLES,
});

const noGenerator: FillEnvironment = () =>
  Promise.reject(new Error('This process cannot generate data.'));

/** Registers the API, its documents (`/v1/openapi.json`, `/v1/openapi-3.1.json`) and its page (`/docs`). */
export async function registerApi(app: FastifyInstance, options: ApiOptions): Promise<void> {
  const sessions = await createSessions({
    ...options.deps,
    ...(options.recentLoginMinutes === undefined
      ? {}
      : { recentLoginMinutes: options.recentLoginMinutes }),
  });
  const { pool, clock, log } = options.deps;
  const pdf = options.pdf ?? createPdfRenderer();
  const outbound = createOutbound();
  const requestLog = options.requestLog ?? new RequestLog(options.deps);
  app.addHook('onClose', async () => {
    if (options.requestLog === undefined) await requestLog.close();
    outbound.close();
    await pdf.close();
  });
  const appendCorrections = async (): Promise<void> => {
    const { openEventLog } = options;
    await logCorrections({ pool, clock, openEventLog }).catch((error: unknown) =>
      log.warn({ err: error }, 'corrections wait for the event log'),
    );
  };
  const streamLag = async (): Promise<PartitionLag[]> => {
    const eventLog = await options.openEventLog();
    const [heads, noted] = await Promise.all([eventLog.positions(STREAM_GROUP), readEnds(pool)]);
    return await readStreamLag(pool, headsToRead(heads, noted));
  };
  const portalSessions = createPortalSessions(options.deps);
  const publicUrl = withoutTrailing(options.publicUrl ?? 'http://127.0.0.1:8080', '/');
  const registered = {
    ...options,
    requestLog,
    deps: {
      ...options.deps,
      processClock: clock,
      sessions,
      portalSessions,
      publicUrl,
      singleSignOn: options.singleSignOn ?? true,
      loginLimit: createLoginLimit(options.deps),
      sendsEmail: options.sendsEmail ?? false,
      signUp: options.signUp ?? 'open',
      supportChatSecret: options.supportChatSecret ?? null,
      logCorrections: appendCorrections,
      seedEnvironment: createSeeder(options.deps, options.fillEnvironment ?? noGenerator),
      isUsageUnderRepair: () => isUsageUnderRepair(pool),
      readLogHeads:
        options.readLogHeads ??
        (async () => readLogHeads(pool, await options.openEventLog(), STREAM_GROUP)),
      streamLag,
      serviceFacts: () => readServiceFacts(pool, streamLag),
      mostParts: options.mostParts,
      eventReader: options.eventReader,
      cache: options.cache,
      requestLog,
      pdf,
      outbound,
    },
    sessions,
    portalSessions,
    timeOf: timeOfRequest,
    depsUntil: readersUntil,
  };
  registerRoutes(app, API_ROUTES, { ...registered, prefix: API_PREFIX });
  await serveBrowserSessions(app, registered);
  await servePortalSessions(app, registered);
  if (options.pagesDirectory !== undefined)
    await servePages(app, options.pagesDirectory, {
      originsFor: (path) => findEmbedOrigins(pool, path),
    });
  if (options.serveDocs === false) return;
  const routes = documentedRoutes(options.servedElsewhere ?? NONE);
  await serveDocs(app, () => openApiDocumentInSteps(routes, documentOptions('3.0.1')), {
    path: `${API_PREFIX}/openapi.json`,
    page: '/docs',
  });
  let newer: Promise<object> | null = null;
  const newerDocument = (): Promise<object> =>
    (newer ??= openApiDocumentInSteps(routes, documentOptions('3.1.0')));
  serveDocument(app, newerDocument, `${API_PREFIX}/openapi-3.1.json`);
}
