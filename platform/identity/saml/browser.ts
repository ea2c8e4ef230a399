import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** The request id of a login, and the secret that its browser keeps. */
export interface BrowserBound {
  /** Public: the identity provider sees it. */
  readonly request_id: string;
  readonly secret: string;
}

/**
 * Binds a login to the browser that begins it: the request's id is the hash of a secret that exists only in a
 * cookie of that browser. So an attacker cannot sign another person in by making them post an answer that the
 * attacker obtained. The store keeps nothing for it.
 */
export function bindToBrowser(): BrowserBound {
  const secret = randomBytes(32).toString('base64url');
  return { request_id: requestIdOf(secret), secret };
}

/** Whether the browser that sends these cookies began the login of the request. */
export function isBoundTo(requestId: string, cookies: string | undefined): boolean {
  const secret = cookieOf(cookies ?? '', cookieName(requestId));
  const found = Buffer.from(requestIdOf(secret ?? ''));
  const wanted = Buffer.from(requestId);
  return secret !== null && found.length === wanted.length && timingSafeEqual(found, wanted);
}

/**
 * The cookie, one for each login, so that logins in two windows do not conflict. The answer is a form post
 * from another site, so the cookie is sent across sites and is therefore `Secure`; only the address that
 * receives the answers gets it.
 */
export const bindingCookie = (
  { request_id, secret }: BrowserBound,
  acsPath: string,
  seconds: number,
): string =>
  `${cookieName(request_id)}=${secret}; Path=${acsPath}; Max-Age=${seconds}; HttpOnly; Secure; SameSite=None`;

/** Deletes the cookie. */
export const spentCookie = (requestId: string, acsPath: string): string =>
  `${cookieName(requestId)}=; Path=${acsPath}; Max-Age=0; HttpOnly; Secure; SameSite=None`;

const cookieName = (requestId: string): string => `meterline_sso${requestId}`;

const requestIdOf = (secret: string): string =>
  `_${createHash('sha256').update(secret).digest('hex').slice(0, 40)}`;

function cookieOf(header: string, name: string): string | null {
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    if (pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return null;
}
