import type { FastifyError, FastifyInstance } from 'fastify';
import { BillingError, type ErrorDetail, type RefusalKind } from '../../domain/errors.ts';
import { isPostgresOutage, isPostgresRace } from '../../postgres/outage.ts';
import { errorCode } from '../network-outage.ts';
import { isCallerGone } from './caller-gone.ts';
import { discardBody } from './discard-body.ts';
import { errorBody } from './error-body.ts';
import { keepErrorCode } from './error-code.ts';
import { sendError } from './problem.ts';

const STATUS: Readonly<Record<RefusalKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  precondition_failed: 412,
  too_large: 413,
  rate_limited: 429,
  unavailable: 503,
};
/** The only place that maps the kind of a refusal to a status. */
export const statusOf = (kind: RefusalKind): number => STATUS[kind];

interface Answer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly details: readonly ErrorDetail[];
  /** Total number of problems; default: the number of `details`. */
  readonly errorCount?: number;
}

/**
 * A refusal answers with its own text. Refusals of the framework (malformed JSON, a body over the cap) get
 * the same form. An unavailable dependency is a 503 that is safe to repeat. Any other error is a bug: its
 * text stays in the log, and the answer carries the request id only.
 */
export function answerOf(error: unknown): Answer {
  if (error instanceof BillingError) {
    const { code, message, details, error_count: errorCount } = error;
    return { status: statusOf(error.kind), code, message, details, errorCount };
  }
  const fastify = error as Partial<FastifyError>;
  if (fastify.statusCode === 413) {
    const message = 'The body is larger than this route accepts.';
    return { status: 413, code: 'payload_too_large', message, details: [] };
  }
  if (fastify.statusCode === 415) {
    const message = 'Send the body as application/json.';
    return { status: 400, code: 'validation_error', message, details: [] };
  }
  if (fastify.statusCode !== undefined && fastify.statusCode < 500) {
    const message = fastify.message ?? 'The request could not be read.';
    return { status: fastify.statusCode, code: 'validation_error', message, details: [] };
  }
  if (errorCode(error) === TOO_LARGE_A_NUMBER) {
    const message =
      'A number that follows from this request has more than 20 digits before the point.';
    return { status: 400, code: 'validation_error', message, details: [] };
  }
  if (isPostgresOutage(error)) {
    const message = 'The service cannot answer right now. Repeat the request shortly.';
    return { status: 503, code: 'service_unavailable', message, details: [] };
  }
  const message = 'An unexpected error happened. The request id helps to find it.';
  return { status: 500, code: 'internal_error', message, details: [] };
}

/** Postgres error: each number of the request is in range, but a product or sum of them is not. */
const TOO_LARGE_A_NUMBER = '22003';

const RACE: Answer = {
  status: 409,
  code: 'version_conflict',
  message: 'Another request changed the same object. Repeat the request.',
  details: [],
};

/** Registers the answers to errors and to unknown routes. Unexpected errors are logged only here. */
export function handleErrors(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => {
    const answer = isPostgresRace(error) ? RACE : answerOf(error);
    const isStopped = answer.status === 503 && isCallerGone(reply);
    if (answer.status >= 500 && !isStopped) request.log.error({ err: error }, 'request failed');
    if (error instanceof BillingError && error.retryAfterSeconds !== null)
      void reply.header('retry-after', error.retryAfterSeconds);
    if (answer.status === 429 || answer.status === 503) {
      if (!reply.hasHeader('retry-after')) void reply.header('retry-after', '1');
    }
    const { status, code, message, details, errorCount } = answer;
    keepErrorCode(request, code);
    const body = errorBody(status, code, message, details, request.id, errorCount);
    if (status !== 413) return sendError(request, reply, body);
    return discardBody(request.raw).then(() => sendError(request, reply, body));
  });
  app.setNotFoundHandler((request, reply) => {
    const message = `There is no route ${request.method} ${request.url.split('?')[0]}.`;
    return sendError(request, reply, errorBody(404, 'not_found', message, [], request.id));
  });
}
