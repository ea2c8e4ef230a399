import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { DOCS_CONTENT_SECURITY_POLICY } from './security-headers.ts';

/**
 * Serves an OpenAPI document at `path`, and at `page` a page that shows it and sends requests. The document is
 * made when it is first asked for: a start does not wait for it.
 */
export async function serveDocs(
  app: FastifyInstance,
  makeDocument: () => Promise<object>,
  options: { readonly path: string; readonly page: string },
): Promise<void> {
  let made = {};
  let making: Promise<object> | null = null;
  const document = (): Promise<object> =>
    (making ??= makeDocument().then((document) => (made = document)));
  serveDocument(app, document, options.path);
  // This plugin wants the document at the start; the page's plugin calls `swagger` at each request.
  const atStart = { decorator: 'documentAtStart', specification: { document: made as never } };
  await app.register(swagger, { mode: 'static', ...atStart });
  app.decorate('swagger', (() => made) as never);
  await app.register(swaggerUi, {
    routePrefix: options.page,
    uiHooks: { preHandler: async () => void (await document()) },
    // A key entered on the page is forgotten with it: browser storage would outlive the page and its user.
    uiConfig: { docExpansion: 'none', deepLinking: true, persistAuthorization: false },
    staticCSP: DOCS_CONTENT_SECURITY_POLICY,
  });
}

/** Serves a document that is made when it is first asked for. */
export function serveDocument(
  app: FastifyInstance,
  document: () => Promise<object>,
  path: string,
): void {
  let text: string | null = null;
  app.get(path, async (_request, reply) => {
    text ??= JSON.stringify(await document());
    return reply.type('application/json').send(text);
  });
}
