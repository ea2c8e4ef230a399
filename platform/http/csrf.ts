import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';

const COOKIE = '__Host-meterline-csrf';

/** Value of a cookie of a request; null if the request has none with this name. */
export function cookieOf(header: string | undefined, name: string): string | null {
  return (header === undefined ? undefined : parseCookie(header)[name]) ?? null;
}

/**
 * A cookie that only this origin can set (`__Host-`), that scripts cannot read, and that no request of
 * another site carries. Without `maxAgeSeconds` it lasts until the browser is closed.
 */
export const hostCookie = (name: string, value: string, maxAgeSeconds?: number): string =>
  stringifySetCookie({
    name,
    value,
    path: '/',
    secure: true,
    httpOnly: true,
    sameSite: 'strict',
    ...(maxAgeSeconds === undefined ? {} : { maxAge: maxAgeSeconds }),
  });

const tokenOf = (secret: string): string =>
  createHash('sha256').update(`csrf ${secret}`).digest('base64url');

/**
 * The CSRF token for a page that is being served, and the cookie to set when the browser has none. The token
 * is derived from the cookie: another site can read neither.
 */
export function csrfOfPage(cookieHeader: string | undefined): {
  readonly token: string;
  readonly setCookie: string | null;
} {
  const present = cookieOf(cookieHeader, COOKIE);
  if (present !== null) return { token: tokenOf(present), setCookie: null };
  const secret = randomBytes(32).toString('base64url');
  return { token: tokenOf(secret), setCookie: hostCookie(COOKIE, secret) };
}

/** Whether a request repeats the token of a page that was served to the same browser. */
export function hasCsrfToken(
  cookieHeader: string | undefined,
  token: string | string[] | undefined,
): boolean {
  const secret = cookieOf(cookieHeader, COOKIE);
  if (secret === null || typeof token !== 'string') return false;
  const wanted = Buffer.from(tokenOf(secret));
  const given = Buffer.from(token);
  return wanted.length === given.length && timingSafeEqual(wanted, given);
}
