import type { FastifyInstance } from 'fastify';

/** Headers with the caller's identity or environment: an answer depends on their values. */
export const CREDENTIAL_HEADERS = [
  'x-api-key',
  'authorization',
  'x-session-token',
  'x-environment-id',
] as const;

/**
 * Headers of every answer unless its route overrides them. Answers are data: a browser must not run or frame
 * them, guess their type, or send their address as referrer. They belong to one caller: shared caches must
 * not store them, and a private cache revalidates by `ETag`.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'private, no-cache',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
  vary: CREDENTIAL_HEADERS.join(', '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/**
 * For the page that shows the OpenAPI document. Scripts and styles are files of this origin; the page calls
 * only this origin.
 */
export const DOCS_CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * For the console, the portal and the checkout page. No inline script runs. Styles are files of this origin
 * or carry the nonce of the answer: components set one style element at run time. `frameAncestors` are origins
 * whose pages may frame this one; without them no page may.
 */
export const pageContentSecurityPolicy = (
  nonce: string,
  frameAncestors: readonly string[] = [],
): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "font-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(' ')}`,
  ].join('; ');

/** Sets the headers before a request is processed, so that refusals have them too. */
export function secureAnswers(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => void reply.headers(SECURITY_HEADERS));
}
