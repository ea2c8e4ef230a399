import type { FastifyReply, FastifyRequest } from 'fastify';
import { etagOf, isKnown } from './conditional.ts';
import type { Route } from './route.ts';

/** Sends what the handler returned, with the headers that the declaration of the route asks for. */
export function sendAnswer<Deps>(
  route: Route<Deps>,
  request: FastifyRequest,
  reply: FastifyReply,
  { status, body }: { readonly status: number; readonly body: unknown },
): FastifyReply {
  const tag = route.method === 'DELETE' ? null : etagOf(body);
  if (tag !== null) void reply.header('etag', tag);
  if (tag !== null && route.method === 'GET' && isKnown(request, tag))
    return reply.code(304).send();
  if (route.deprecated === true) void reply.header('deprecation', 'true');
  if (route.secretAnswer === true) void reply.header('cache-control', 'no-store');
  void reply.code(status);
  // A route with several forms has already set the content type.
  if (route.contentType !== undefined && !reply.hasHeader('content-type'))
    void reply.type(route.contentType);
  if (isFile(reply.getHeader('content-type')))
    void reply.header('content-disposition', 'attachment');
  // An empty answer must not carry a content type.
  return route.answer === null && route.contentType === undefined ? reply.send() : reply.send(body);
}

/** Files with tenant data: to be saved, never to be shown by a browser as a page of this origin. */
const isFile = (contentType: unknown): boolean =>
  typeof contentType === 'string' && /^(text\/csv|application\/x-ndjson)/.test(contentType);
