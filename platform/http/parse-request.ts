import type { FastifyReply, FastifyRequest } from 'fastify';
import { ignoredFields } from './ignored-fields.ts';
import { assertStorable, hasTextAfterBody } from './json-body.ts';
import { refuseNearMisses, type UnknownKey } from './near-misses.ts';
import { hasKey, parse, unknownFields, unknownKeys } from './parse.ts';
import type { Route } from './route.ts';

export interface IsWord {
  /** Whether a request or an answer of any route has a key of this name. */
  readonly isWord: (key: string) => boolean;
}

/** Path, query and body as the route declares them, or 400. Names what is ignored in a header. */
export function parseRequest<Deps>(
  route: Route<Deps>,
  request: FastifyRequest,
  reply: FastifyReply,
  { isWord }: IsWord,
): { params: unknown; query: unknown; body: unknown } {
  assertStorable(request.params, 'path');
  assertStorable(request.query, 'query');
  const unknown = route.body === undefined ? [] : unknownKeys(route.body, request.body);
  refuseNearMisses(unknown, isWord, (key) => isEchoed(route, key));
  const ignored = [
    ...(route.query === undefined
      ? Object.keys(request.query as object)
      : unknownFields(route.query, request.query)),
    ...unknown.map(({ path }) => path),
    ...(hasTextAfterBody(request) ? ['text after the body'] : []),
  ];
  if (ignored.length > 0)
    void reply.header('x-ignored-fields', ignoredFields(ignored, request.headers));
  return {
    params: route.params === undefined ? undefined : parse(route.params, request.params, 'path'),
    query: route.query === undefined ? undefined : parse(route.query, request.query, 'query'),
    body: route.body === undefined ? undefined : parse(route.body, request.body, 'body'),
  };
}

/** Whether a PUT of a record repeats a key of the record, as clients do that change what they have read. */
function isEchoed<Deps>(route: Route<Deps>, { path, key }: UnknownKey): boolean {
  const ofRecord = route.method === 'PUT' && route.path.endsWith('}');
  return ofRecord && path === key && route.answer !== null && hasKey(route.answer, key);
}
