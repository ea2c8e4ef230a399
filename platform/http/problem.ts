import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorBody } from './error-body.ts';

const PROBLEM_TYPE = 'application/problem+json';

/** Sends an error in the form that the caller requests: RFC 9457 if `Accept` names it. */
export function sendError(
  request: FastifyRequest,
  reply: FastifyReply,
  body: ErrorBody,
): FastifyReply {
  void reply.code(body.http_status_code);
  if (!String(request.headers.accept ?? '').includes(PROBLEM_TYPE)) return reply.send(body);
  // Serialized here: the framework refuses an object under an unknown content type.
  return reply.type(PROBLEM_TYPE).send(JSON.stringify(problemOf(body)));
}

/** The same facts under their RFC 9457 names, plus `code`, `errors`, `error_count` and `request_id`. */
const problemOf = (body: ErrorBody): object => ({
  type: 'about:blank',
  title: body.code.replace(/_/g, ' '),
  status: body.http_status_code,
  detail: body.message,
  instance: `urn:request:${body.request_id}`,
  code: body.code,
  errors: body.details,
  error_count: body.error_count,
  request_id: body.request_id,
});
