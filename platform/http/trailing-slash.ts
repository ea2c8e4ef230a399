import type { FastifyReply, FastifyRequest } from 'fastify';
import { withoutTrailing } from '../../schemas/digits.ts';

/** Redirects, by 307, to the address without slashes at the end of its path; false if it has none. */
export function redirectWithoutSlash(request: FastifyRequest, reply: FastifyReply): boolean {
  const { url } = request;
  const path = url.split('?', 1)[0]!;
  if (!path.endsWith('/')) return false;
  const location = withoutTrailing(path, '/') + url.slice(path.length);
  void reply.code(307).header('location', location).send();
  return true;
}
