import type { FastifyInstance } from 'fastify';
import { BillingError } from '../../domain/errors.ts';
import { urlOf, type Route } from './route.ts';

/** Routes that declare it get the bytes of a JSON body as they were sent (`json-body.ts`). */
export const JSON_TYPE = 'application/json';

/** Lets only routes that declare a file body receive one, as a `Buffer`. */
export function readFiles(
  app: FastifyInstance,
  routes: readonly Pick<Route, 'method' | 'path' | 'bodyType'>[],
  prefix: string,
): void {
  const taking = routes.filter(({ bodyType }) => bodyType !== undefined && bodyType !== JSON_TYPE);
  for (const type of new Set(taking.map((route) => route.bodyType!))) {
    const urls = new Set(
      taking
        .filter((route) => route.bodyType === type)
        .map((route) => `${route.method} ${urlOf(prefix, route)}`),
    );
    app.addContentTypeParser(type, { parseAs: 'buffer' }, (request, body, done) => {
      if (urls.has(`${request.method} ${request.routeOptions.url}`)) return done(null, body);
      const message = 'Send the body as application/json.';
      done(new BillingError('invalid', 'validation_error', message));
    });
  }
}
