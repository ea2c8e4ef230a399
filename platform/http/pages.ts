import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { csrfOfPage } from './csrf.ts';
import { pageContentSecurityPolicy } from './security-headers.ts';

/** Pages by the first part of their path. All other paths belong to the console. */
const PAGES = ['portal', 'checkout'] as const;
/** First parts of paths that are not pages, so that a wrong one is a 404 also for a browser. */
const OTHERS = ['v1', 'session', 'assets', 'docs', 'health', 'healthz', 'readyz', 'metrics'];

const NONCE_MARK = '{{nonce}}';
const CSRF_MARK = '{{csrf}}';

/** Which other sites may show a page in a frame. */
export interface Framing {
  /** Origins that may frame the page at the path; none for most. */
  originsFor(path: string): Promise<readonly string[]>;
}

/**
 * Serves the built pages: each is one small HTML document, for every path below it, because its router
 * reads the path in the browser. Assets have the hash of their content in their names, so browsers keep them
 * forever; they are compressed when they are built. Without the folder nothing is registered.
 */
export async function servePages(
  app: FastifyInstance,
  directory: string,
  framing: Framing,
): Promise<void> {
  if (!existsSync(join(directory, 'console', 'index.html'))) return;
  await app.register(async (pages) => {
    pages.addHook('onRequest', async (_request, reply) => {
      reply.removeHeader('access-control-allow-origin');
      void reply.header('vary', 'accept-encoding');
    });
    await pages.register(fastifyStatic, {
      root: join(directory, 'assets'),
      prefix: '/assets/',
      index: false,
      decorateReply: false,
      preCompressed: true,
      immutable: true,
      maxAge: '365d',
    });
    pages.get('/', (request, reply) => sendPage(directory, 'console', [], request, reply));
    pages.get('/*', async (request, reply) => {
      const first = request.url.split(/[/?]/)[1] ?? '';
      const wantsPage = request.headers.accept?.includes('text/html') === true;
      if (!wantsPage || OTHERS.includes(first)) return reply.callNotFound();
      const page = PAGES.find((name) => name === first) ?? 'console';
      const framers = await framing.originsFor(request.url);
      return sendPage(directory, page, framers, request, reply);
    });
  });
}

/** The document is read from disk each time: a rebuilt page is served without a restart. */
async function sendPage(
  directory: string,
  page: string,
  framers: readonly string[],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const html = await readFile(join(directory, page, 'index.html'), 'utf8');
  const nonce = randomBytes(16).toString('base64url');
  const isFramed = framers.length > 0 && request.headers['sec-fetch-dest'] === 'iframe';
  const cookie = page !== 'portal' ? 'console' : isFramed ? 'framed_portal' : 'portal';
  const csrf = csrfOfPage(request.headers.cookie, cookie);
  if (csrf.setCookie !== null) void reply.header('set-cookie', csrf.setCookie);
  // This older header has no list of origins. Browsers that know the policy below ignore it.
  if (framers.length > 0) void reply.removeHeader('x-frame-options');
  return reply
    .headers({
      'content-security-policy': pageContentSecurityPolicy(nonce, framers),
      'cache-control': 'no-store',
      'cross-origin-opener-policy': 'same-origin',
      vary: 'cookie, accept, sec-fetch-dest',
    })
    .type('text/html; charset=utf-8')
    .send(html.replaceAll(NONCE_MARK, nonce).replaceAll(CSRF_MARK, csrf.token));
}
