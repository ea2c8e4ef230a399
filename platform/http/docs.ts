import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { DOCS_CONTENT_SECURITY_POLICY } from './security-headers.ts';

/** Serves an OpenAPI document at `path`, and at `page` a page that shows it and sends requests. */
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
    // A key entered on the page is forgotten with it: browser storage would outlive the page and its user.
    uiConfig: { docExpansion: 'none', deepLinking: true, persistAuthorization: false },
    staticCSP: DOCS_CONTENT_SECURITY_POLICY,
  });
}
