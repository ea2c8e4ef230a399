import type { FastifyInstance } from 'fastify';

/** Headers by which a caller says who it is, or where it wants to be: an answer belongs to their values. */
export const CREDENTIAL_HEADERS = [
  'x-api-key',
  'authorization',
  'x-session-token',
  'x-environment-id',
] as const;

/**
 * What every answer carries unless its route says otherwise. Answers are data: a browser that is shown
 * one runs nothing of it, frames it nowhere, takes it for nothing but its type, and tells nobody where it
 * was. They are one caller's: no shared cache keeps them, and a private one asks again by `ETag`.
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
 * Of the page that shows the OpenAPI document. Scripts and styles are files of this origin; the page calls
 * this origin alone.
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

/** Sets the headers before a request is looked at, so that refusals have them too. */
export function secureAnswers(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => void reply.headers(SECURITY_HEADERS));
}
