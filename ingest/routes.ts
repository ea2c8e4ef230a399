import type { FastifyPluginAsync } from 'fastify';
import { errorBody } from '../platform/http/error-body.ts';
import { keepErrorCode } from '../platform/http/error-code.ts';
import { answerOf } from '../platform/http/error-handler.ts';
import type { Route } from '../platform/http/route.ts';
import { redirectWithoutSlash } from '../platform/http/trailing-slash.ts';
import {
  IngestEventAnswer,
  IngestEventBody,
  IngestEventsAnswer,
  IngestEventsBody,
} from '../schemas/events/event-bodies.ts';
import { EventIntake, type IngestDeps } from './accept-events.ts';
import { BODY_BYTES_MAX } from './read-body.ts';

/**
 * `POST /v1/events`, `POST /v1/events/bulk` and its alias `/v1/events/raw/bulk`, on any Fastify instance.
 * Answers 202 only after the log has stored the events durably. In every other case the client may send the
 * same events again with the same ids (metering 2).
 */
export const ingestRoutes =
  (deps: IngestDeps): FastifyPluginAsync =>
  async (app) => {
    const intake = new EventIntake(deps);
    // The handler reads bodies itself: after the credential check, and counts and decodes the bytes.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, _payload, done) => done(null));

    app.addHook('onRequest', async (request, reply) => {
      if (redirectWithoutSlash(request, reply)) return reply;
    });
    app.setErrorHandler((error, request, reply) => {
      const { status, code, message, details, errorCount } = answerOf(error);
      intake.metrics.refused(status);
      // Refusals during an outage of the log are counted, and the log logs them once; any other 5xx is a bug.
      if (status >= 500 && status !== 503)
        deps.logger.error({ err: error, request_id: request.id }, 'request failed');
      if ((status === 503 || status === 429) && !reply.hasHeader('retry-after'))
        void reply.header('retry-after', '1');
      // The rest of the body is not read.
      if (status === 413) void reply.header('connection', 'close');
      keepErrorCode(request, code);
      const body = errorBody(status, code, message, details, request.id, errorCount);
      return reply.code(status).send(body);
    });
    app.addHook('onResponse', async (request, reply) => {
      if (reply.statusCode < 400) return;
      const route = request.routeOptions.url?.replace(/^\/v1/, '') ?? 'unknown';
      deps.requestLog?.note(route, request, reply);
    });

    // One log line per request would be most of the work of a call with a single event.
    const options = { bodyLimit: BODY_BYTES_MAX, logLevel: 'warn' } as const;
    app.post('/v1/events', options, (request, reply) => intake.accept(request, reply, 'event'));
    app.post('/v1/events/bulk', options, (request, reply) =>
      intake.accept(request, reply, 'events'),
    );
    app.post('/v1/events/raw/bulk', options, (request, reply) =>
      intake.accept(request, reply, 'events'),
    );
  };

/** The same routes for the OpenAPI document. `ingestRoutes` serves them. */
export const INGEST_OPERATIONS: readonly Route[] = [
  {
    method: 'POST',
    path: '/events',
    summary: 'Send one usage event. It is counted once per event_id, without a time limit.',
    permission: 'event:write',
    body: IngestEventBody,
    status: 202,
    answer: IngestEventAnswer,
    bodyLimitBytes: BODY_BYTES_MAX,
    handler: servedByIngest,
  },
  {
    method: 'POST',
    path: '/events/bulk',
    summary:
      'Send up to 1,000 usage events. One bad event refuses the call, naming the first 100 problems and their number.',
    permission: 'event:write',
    body: IngestEventsBody,
    status: 202,
    answer: IngestEventsAnswer,
    bodyLimitBytes: BODY_BYTES_MAX,
    handler: servedByIngest,
  },
  {
    method: 'POST',
    path: '/events/raw/bulk',
    summary: 'Send events in bulk; the same as POST /events/bulk, for older senders',
    permission: 'event:write',
    body: IngestEventsBody,
    status: 202,
    answer: IngestEventsAnswer,
    bodyLimitBytes: BODY_BYTES_MAX,
    handler: servedByIngest,
  },
];

function servedByIngest(): Promise<never> {
  return Promise.reject(new Error('event routes are served by the ingest role'));
}
