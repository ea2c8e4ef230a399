import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { DOCS_CONTENT_SECURITY_POLICY } from './security-headers.ts';

/** Serves an OpenAPI document at `path` and a page to read and try it at `page`. */
export async function serveDocs(
  app: FastifyInstance,
  document: object,
  options: { readonly path: string; readonly page: string },
): Promise<void> {
  const text = JSON.stringify(document);
  app.get(options.path, async (_request, reply) => reply.type('application/json').send(text));
  await app.register(swagger, { mode: 'static', specification: { document: document as never } });
  await app.register(swaggerUi, {
    routePrefix: options.page,
    // A key that was tried is forgotten with the page: storage of a browser outlives it and its reader.
    uiConfig: { docExpansion: 'none', deepLinking: true, persistAuthorization: false },
    staticCSP: DOCS_CONTENT_SECURITY_POLICY,
  });
}
