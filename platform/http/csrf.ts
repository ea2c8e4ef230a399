import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';

/**
 * The cookies behind the CSRF tokens of pages. The portal shares none with the console; in a frame of another site it
 * has a third one, which the browser keeps apart for each framing site.
 */
const COOKIES = {
  console: '__Host-meterline-csrf',
  portal: '__Host-meterline-portal-csrf',
  framed_portal: '__Host-meterline-portal-framed-csrf',
} as const;
export type CsrfCookie = keyof typeof COOKIES;

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
    ...hostOnly(name, value),
    sameSite: 'strict',
    ...(maxAgeSeconds === undefined ? {} : { maxAge: maxAgeSeconds }),
  });

/**
 * The same for a page in a frame of another site. The browser keeps the cookie apart for each framing site
 * (`Partitioned`): a page of a third site that sends a request does not carry it.
 */
export const framedHostCookie = (name: string, value: string, maxAgeSeconds?: number): string =>
  stringifySetCookie({
    ...hostOnly(name, value),
    sameSite: 'none',
    partitioned: true,
    ...(maxAgeSeconds === undefined ? {} : { maxAge: maxAgeSeconds }),
  });

const hostOnly = (name: string, value: string) => ({
  name,
  value,
  path: '/',
  secure: true,
  httpOnly: true,
});

const tokenOf = (secret: string): string =>
  createHash('sha256').update(`csrf ${secret}`).digest('base64url');

/**
 * The CSRF token for a page that is being served, and the cookie to set when the browser has none. The token
 * is derived from the cookie: another site can read neither.
 */
export function csrfOfPage(
  cookieHeader: string | undefined,
  cookie: CsrfCookie,
): {
  readonly token: string;
  readonly setCookie: string | null;
} {
  const name = COOKIES[cookie];
  const present = cookieOf(cookieHeader, name);
  if (present !== null) return { token: tokenOf(present), setCookie: null };
  const secret = randomBytes(32).toString('base64url');
  const toSet = cookie === 'framed_portal' ? framedHostCookie : hostCookie;
  return { token: tokenOf(secret), setCookie: toSet(name, secret) };
}

/** Whether a request repeats the token of a page that was served to the same browser. */
export function hasCsrfToken(
  cookieHeader: string | undefined,
  token: string | string[] | undefined,
  cookie: CsrfCookie,
): boolean {
  const secret = cookieOf(cookieHeader, COOKIES[cookie]);
  if (secret === null || typeof token !== 'string') return false;
  const wanted = Buffer.from(tokenOf(secret));
  const given = Buffer.from(token);
  return wanted.length === given.length && timingSafeEqual(wanted, given);
}
