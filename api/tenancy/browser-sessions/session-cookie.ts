import type { Clock } from '../../../platform/clock.ts';
import { cookieOf, hostCookie } from '../../../platform/http/csrf.ts';
import type { OpenedSession } from '../../../platform/identity/sessions.ts';
import type { BrowserSession } from '../../../schemas/browser-session.ts';

const COOKIE = '__Host-meterline-session';

/** As long as the session itself: a browser keeps the cookie no longer than it is of use. */
const COOKIE_SECONDS = 30 * 86_400;

/** The refresh token in a request's cookie; null if the browser has no session. */
export function refreshTokenOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): string | null {
  const token = cookieOf([headers['cookie'] ?? []].flat().join('; '), COOKIE);
  return token === null || token === '' ? null : token;
}

export const sessionCookie = (refreshToken: string): string =>
  hostCookie(COOKIE, refreshToken, COOKIE_SECONDS);

export const endedCookie = (): string => hostCookie(COOKIE, '', 0);

/** The part of an opened session that the page may hold: everything but the refresh token. */
export const withoutRefreshToken = (
  { token, expires_at, user_id, tenant_id }: OpenedSession,
  clock: Clock,
): BrowserSession => ({
  token,
  expires_at,
  expires_in_seconds: Math.floor((Date.parse(expires_at) - clock.now()) / 1000),
  user_id,
  tenant_id,
});
