import type { FastifyInstance } from 'fastify';
import { BillingError } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import { registerRoutes, type RegisterOptions } from '../../../platform/http/register-routes.ts';
import type { SessionOwner } from '../../../platform/identity/sessions.ts';
import { BrowserSessionAnswer, ConfirmBody } from '../../../schemas/browser-session.ts';
import { Message } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import {
  EndSessionsQuery,
  LogInBody,
  PersonSession,
  PersonSessionSearch,
  RefreshBody,
  SignUpBody,
  VerifyBody,
} from '../../../schemas/tenancy.ts';
import { route } from '../../conventions/route.ts';
import type { ApiDeps } from '../../deps.ts';
import { confirmLogin } from '../auth/confirm-login.ts';
import { deviceOf } from '../auth/device.ts';
import { logIn } from '../auth/log-in.ts';
import { endSessions, openSessions } from '../auth/session-repository.ts';
import { signUp, verifySignUp } from '../auth/sign-up.ts';
import { assertFromOwnPage } from './own-pages-only.ts';
import {
  endedCookie,
  refreshTokenOf,
  sessionCookie,
  withoutRefreshToken,
} from './session-cookie.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Sessions of browsers. They are not part of the API (`/v1` ignores cookies): the refresh token is in a
 * cookie that no script can read, and the page holds the access token in memory only.
 */
const sessionRoutes = [
  route({
    method: 'POST',
    path: '/login',
    summary: 'Open a session in this browser; ends its earlier session',
    permission: 'public',
    secretAnswer: true,
    body: LogInBody,
    status: 200,
    answer: BrowserSessionAnswer,
    async handler(call) {
      const opened = await logIn(call.deps, call.body, deviceOf(call));
      await endOwn(call.deps, call.headers, 'session_ended');
      call.setHeader('set-cookie', sessionCookie(opened.refresh_token));
      return { session: withoutRefreshToken(opened, call.deps.clock) };
    },
  }),
  route({
    method: 'POST',
    path: '/signup',
    summary: 'Create a tenant and open a session as its first person',
    permission: 'public',
    secretAnswer: true,
    body: SignUpBody,
    status: 200,
    answer: BrowserSessionAnswer,
    // With e-mail: the session is opened by `/session/verify`.
    acceptedAnswer: Message,
    async handler(call) {
      const answer = await signUp(call.deps, call.body, deviceOf(call));
      if ('queued' in answer) {
        call.accepted();
        return { message: 'Read the e-mail that was sent to this address' } as never;
      }
      call.setHeader('set-cookie', sessionCookie(answer.refresh_token));
      return { session: withoutRefreshToken(answer, call.deps.clock) };
    },
  }),
  route({
    method: 'POST',
    path: '/verify',
    summary: 'Verify the address of a sign-up and open its first session',
    permission: 'public',
    secretAnswer: true,
    body: VerifyBody,
    status: 200,
    answer: BrowserSessionAnswer,
    async handler(call) {
      const opened = await verifySignUp(call.deps, call.body, deviceOf(call));
      call.setHeader('set-cookie', sessionCookie(opened.refresh_token));
      return { session: withoutRefreshToken(opened, call.deps.clock) };
    },
  }),
  route({
    method: 'POST',
    path: '/exchange',
    summary: 'Keep the session of a single sign-on in this browser; consumes its refresh token',
    permission: 'public',
    secretAnswer: true,
    body: RefreshBody,
    status: 200,
    answer: BrowserSessionAnswer,
    async handler(call) {
      const opened = await call.deps.sessions.refresh(call.deps.pool, call.body.refresh_token);
      await endOwn(call.deps, call.headers, 'session_ended');
      call.setHeader('set-cookie', sessionCookie(opened.refresh_token));
      return { session: withoutRefreshToken(opened, call.deps.clock) };
    },
  }),
  route({
    method: 'POST',
    path: '/refresh',
    summary: 'Exchange the cookie for a new token and a new cookie; null without a session',
    permission: 'public',
    secretAnswer: true,
    status: 200,
    answer: BrowserSessionAnswer,
    async handler({ deps, headers, setHeader }) {
      const token = refreshTokenOf(headers);
      if (token === null) return { session: null };
      try {
        const opened = await deps.sessions.refresh(deps.pool, token);
        setHeader('set-cookie', sessionCookie(opened.refresh_token));
        return { session: withoutRefreshToken(opened, deps.clock) };
      } catch (error) {
        if (!(error instanceof BillingError) || error.kind !== 'unauthenticated') throw error;
        setHeader('set-cookie', endedCookie());
        return { session: null };
      }
    },
  }),
  route({
    method: 'POST',
    path: '/logout',
    summary: 'End the session of this browser',
    permission: 'public',
    secretAnswer: true,
    status: 200,
    answer: Message,
    async handler({ deps, headers, setHeader }) {
      await endOwn(deps, headers, 'logged_out');
      setHeader('set-cookie', endedCookie());
      return { message: 'Logged out' };
    },
  }),
  route({
    method: 'POST',
    path: '/confirm',
    summary: 'Confirm the password, so that actions that need a recent login are allowed again',
    permission: 'public',
    secretAnswer: true,
    body: ConfirmBody,
    status: 200,
    answer: Message,
    async handler({ deps, headers, ip, body }) {
      await confirmLogin(deps, { ...(await getOwner(deps, headers)), ip }, body.password);
      return { message: 'Confirmed' };
    },
  }),
  route({
    method: 'GET',
    path: '/list',
    summary: 'List the sessions of the person',
    permission: 'public',
    query: PersonSessionSearch.query,
    status: 200,
    answer: pageOf(PersonSession),
    async handler({ deps, headers, query }) {
      const own = await getOwner(deps, headers);
      return openSessions(deps.pool, own, own.session_id, isoTime(deps.clock.now()), query);
    },
  }),
  route({
    method: 'DELETE',
    path: '/list',
    summary: 'End all sessions of the person, or all except this one',
    permission: 'public',
    query: EndSessionsQuery,
    status: 204,
    answer: null,
    async handler({ deps, headers, query, setHeader }) {
      const own = await getOwner(deps, headers);
      const keepsOwn = query.keep_current === 'true';
      await endSessions(deps, own, 'session_ended', keepsOwn ? { but: own.session_id } : 'all');
      if (!keepsOwn) setHeader('set-cookie', endedCookie());
    },
  }),
];

/** Registers `/session/*`, for pages of this origin only. */
export async function serveBrowserSessions(
  app: FastifyInstance,
  options: Omit<RegisterOptions<ApiDeps>, 'prefix'>,
): Promise<void> {
  await app.register(async (pages) => {
    pages.addHook('onRequest', async (request, reply) => {
      // No other origin may read an answer about a session.
      reply.removeHeader('access-control-allow-origin');
      void reply.header('cache-control', 'no-store');
      assertFromOwnPage(request, options.deps.publicUrl, ['console']);
    });
    registerRoutes(pages, sessionRoutes, { ...options, prefix: '/session' });
  });
}

async function endOwn(
  deps: ApiDeps,
  headers: Headers,
  action: 'logged_out' | 'session_ended',
): Promise<void> {
  const owner = await findOwner(deps, headers);
  if (owner !== null) await endSessions(deps, owner, action, { only: owner.session_id });
}

async function findOwner(deps: ApiDeps, headers: Headers): Promise<SessionOwner | null> {
  const token = refreshTokenOf(headers);
  return token === null ? null : await deps.sessions.ownerOf(deps.pool, token);
}

async function getOwner(deps: ApiDeps, headers: Headers): Promise<SessionOwner> {
  const owner = await findOwner(deps, headers);
  if (owner === null)
    throw new BillingError(
      'unauthenticated',
      'unauthenticated',
      'This browser has no session. Sign in.',
    );
  return owner;
}
