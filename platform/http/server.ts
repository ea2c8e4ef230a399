import { randomUUID } from 'node:crypto';
import fastify, { LogController, type FastifyInstance, type FastifyReply } from 'fastify';
import type { Logger } from '../log.ts';
import type { AnswerFacts } from '../metrics.ts';
import { errorBody } from './error-body.ts';
import { answerOf, handleErrors } from './error-handler.ts';
import { readJsonBodies } from './json-body.ts';
import { limitConnections } from './limit-connections.ts';
import { refuseConnection } from './refuse-connection.ts';
import { secureAnswers, SECURITY_HEADERS } from './security-headers.ts';

export interface ServerOptions {
  readonly log: Logger;
  /** Default body limit of a route, in bytes. */
  readonly bodyLimitBytes?: number;
  /** Addresses or CIDR of trusted proxies: their `X-Forwarded-For` gives the caller's address. */
  readonly trustedProxies?: readonly string[];
  /** Connections served at a time; default 5,000. */
  readonly maxConnections?: number;
  /** Time limit for a request's headers, and for its body; default 30 s. */
  readonly requestTimeoutMs?: number;
  /** Called after each answer; `route` is the declared path, so that it has few values. */
  readonly onAnswer?: (answer: AnswerFacts) => void;
}

export const API_BODY_BYTES_MAX = 1024 * 1024;
export const EVENT_BODY_BYTES_MAX = 32 * 1024 * 1024;

/** Node's limit of a request's line and headers. */
const REQUEST_LINE_BYTES_MAX = 16 * 1024;

const REQUEST_TIMEOUT_MS = 30_000;
const TIMEOUT_CHECK_MS = 1_000;
const CONNECTIONS_MAX = 5_000;

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * A Fastify server with the parts that all routes share: request ids (the caller's if well formed, echoed in
 * `X-Request-ID`), JSON bodies, one error body, CORS, one log line per request, time limits and body caps. It
 * has no routes yet and does not listen.
 */
export function createServer(options: ServerOptions): FastifyInstance {
  const requestTimeout = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
  const app = fastify({
    loggerInstance: options.log,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'request_id',
    }),
    bodyLimit: options.bodyLimitBytes ?? API_BODY_BYTES_MAX,
    trustProxy: options.trustedProxies?.length ? [...options.trustedProxies] : false,
    connectionTimeout: 60_000,
    requestTimeout,
    http: {
      requestTimeout,
      headersTimeout: requestTimeout,
      // By default Node checks every 30 seconds: a 30-second limit would then end after up to 60.
      connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, requestTimeout),
    },
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    // As long as a request line can be: each route limits the length of its ids.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: REQUEST_LINE_BYTES_MAX },
    requestIdHeader: false,
    genReqId(request) {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    },
    clientErrorHandler: refuseConnection,
    frameworkErrors(error, request, reply) {
      const { status, code, message, details, errorCount } = answerOf(error);
      const body = errorBody(status, code, message, details, request.id, errorCount);
      void (reply as unknown as FastifyReply).code(status).headers(SECURITY_HEADERS).send(body);
    },
  }) as unknown as FastifyInstance;

  secureAnswers(app);
  readJsonBodies(app);
  handleErrors(app);
  limitConnections(app, options.maxConnections ?? CONNECTIONS_MAX);

  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id);
    void reply.header('access-control-allow-origin', '*');
  });
  app.options('/*', async (_request, reply) =>
    reply
      .header('access-control-allow-methods', 'GET, POST, PUT, DELETE, OPTIONS')
      .header('access-control-allow-headers', '*, authorization')
      .header('access-control-expose-headers', '*')
      .header('access-control-max-age', '86400')
      .code(200)
      .send(),
  );
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown';
    const seconds = reply.elapsedTime / 1000;
    options.onAnswer?.({ method: request.method, route, status: reply.statusCode, seconds });
    request.log.info(
      { method: request.method, route, status: reply.statusCode, ms: Math.round(seconds * 1000) },
      'answered',
    );
  });
  return app;
}
