import type { FastifyRequest } from 'fastify';
import { BillingError } from '../../../domain/errors.ts';
import { hasCsrfToken, type CsrfCookie } from '../../../platform/http/csrf.ts';
import { isLoopback } from '../../../platform/loopback.ts';

/**
 * Refuses a request that a page of this origin did not send. A browser adds the session's cookie by itself,
 * so three independent signs are required: the origin that the browser names, its own verdict
 * (`Sec-Fetch-Site`) if it has one, and the token that was part of the page. `cookies` are those of such pages.
 */
export function assertFromOwnPage(
  request: FastifyRequest,
  publicUrl: string,
  cookies: readonly CsrfCookie[],
): void {
  assertPrivateTransport(request);
  const { origin, cookie } = request.headers;
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin')
    throw crossSite('Sec-Fetch-Site: must be same-origin.');
  // Browsers name no origin when a page reads from its own.
  const mayBeUnnamed = request.method === 'GET' && site !== undefined;
  if (origin === undefined ? !mayBeUnnamed : !isOwnOrigin(origin, request, publicUrl))
    throw crossSite('Origin: must be the address of this server; only its own pages use sessions.');
  const token = request.headers['x-csrf-token'];
  const hasToken = cookies.some((name) => hasCsrfToken(cookie, token, name));
  if (request.method !== 'GET' && !hasToken)
    throw crossSite('X-CSRF-Token: is not the token of the page; reload the page.');
}

/** The origin under which the browser reached this server, or the configured public one. */
function isOwnOrigin(origin: string, request: FastifyRequest, publicUrl: string): boolean {
  return origin === `${request.protocol}://${request.host}` || origin === new URL(publicUrl).origin;
}

/** A password or cookie that crosses a network in the clear can be read on the way. */
function assertPrivateTransport(request: FastifyRequest): void {
  if (request.protocol === 'https' || isLoopback(request.hostname)) return;
  throw new BillingError(
    'forbidden',
    'https_required',
    'Signing in needs https: this page was opened over plain http from another machine, where a password could be read on the way. ' +
      'Put a proxy with a certificate before this port (docs/security.md), or open it on the machine itself.',
  );
}

const crossSite = (message: string): BillingError =>
  new BillingError('forbidden', 'cross_site', message);
