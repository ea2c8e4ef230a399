import type { FastifyInstance } from 'fastify';
import { isoTime } from '../../../platform/clock.ts';
import { cookieOf, framedHostCookie, hostCookie } from '../../../platform/http/csrf.ts';
import { registerRoutes, type RegisterOptions } from '../../../platform/http/register-routes.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import {
  OpenPortalPageBody,
  PortalPageAnswer,
  ResumePortalPageBody,
  type PortalPlace,
} from '../../../schemas/portal-page.ts';
import { Message } from '../../../schemas/primitives.ts';
import { route } from '../../conventions/route.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import { namesIn, timeOfNames } from '../../customers/test-clocks/time-of-names.ts';
import type { ApiDeps } from '../../deps.ts';
import { assertFromOwnPage } from '../../tenancy/browser-sessions/own-pages-only.ts';
import { findEnvironmentType } from '../../tenancy/environments/repository.ts';
import { readBrand } from '../../tenancy/tenants/brand.ts';
import { readEmbedOrigins } from './embedding.ts';
import { endPortalSession, getSessionEnd } from './session-repository.ts';
import { shownPagesOf } from './shown-pages.ts';
import { usagePageOf } from './usage-page.ts';

/** A framed page has a cookie of its own: it never continues the session of another tab. */
const COOKIE = '__Host-meterline-portal';
const FRAMED_COOKIE = '__Host-meterline-portal-framed';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Sessions of portal pages. The page exchanges the token of its link for a cookie that no script can read, erases it
 * from the address and keeps it in memory only. A page that is loaded again resumes with the cookie. `/v1` ignores
 * cookies.
 */
const pageSessionRoutes = [
  route({
    method: 'POST',
    path: '/open',
    summary: 'Begin the session of a portal link in this browser',
    permission: 'public',
    secretAnswer: true,
    body: OpenPortalPageBody,
    status: 200,
    answer: PortalPageAnswer,
    async handler({ deps, body: { token, ...place }, setHeader }) {
      const answer = await sessionOf(deps, token, place);
      if (answer.session !== null)
        setHeader('set-cookie', cookie(place, token, answer.session.expires_in_seconds));
      return answer;
    },
  }),
  route({
    method: 'POST',
    path: '/resume',
    summary: 'Continue the portal session of this browser; null without one',
    permission: 'public',
    secretAnswer: true,
    body: ResumePortalPageBody,
    status: 200,
    answer: PortalPageAnswer,
    handler: ({ deps, body, headers }) => sessionOf(deps, tokenIn(headers, body), body),
  }),
  route({
    method: 'POST',
    path: '/logout',
    summary: 'End the portal session of this browser',
    permission: 'public',
    secretAnswer: true,
    body: ResumePortalPageBody,
    status: 200,
    answer: Message,
    async handler({ deps, body, headers, setHeader }) {
      const token = tokenIn(headers, body);
      const customer = token === null ? null : await deps.portalSessions.authenticate(token);
      if (customer !== null) {
        const { tenant_id, environment_id, session_id, user_id } = customer;
        const caller = { scope: { tenant_id, environment_id }, user_id };
        await deps.pool.begin((tx) => endPortalSession(tx, deps, caller, session_id));
      }
      setHeader('set-cookie', cookie(body, '', 0));
      return { message: 'Logged out' };
    },
  }),
];

/** Registers `/session/portal/*`, for pages of this origin only. */
export async function servePortalSessions(
  app: FastifyInstance,
  options: Omit<RegisterOptions<ApiDeps>, 'prefix'>,
): Promise<void> {
  await app.register(async (pages) => {
    pages.addHook('onRequest', async (request, reply) => {
      // No other origin may read an answer about a session.
      reply.removeHeader('access-control-allow-origin');
      void reply.header('cache-control', 'no-store');
      assertFromOwnPage(request, options.deps.publicUrl, ['portal', 'framed_portal']);
    });
    registerRoutes(pages, pageSessionRoutes, { ...options, prefix: '/session/portal' });
  });
}

/**
 * Null for a token that is unknown or has ended. Null also in an address that names another environment, and in a
 * frame unless the environment allows frames: a site frames only the portal that lists it.
 */
async function sessionOf(
  deps: ApiDeps,
  token: string | null,
  place: PortalPlace,
): Promise<PortalPageAnswer> {
  const customer = token === null ? null : await deps.portalSessions.authenticate(token);
  if (token === null || customer === null) return { session: null };
  const { tenant_id, environment_id, session_id, customer_id } = customer;
  const scope = { tenant_id, environment_id };
  if (place.environment_id !== null && place.environment_id !== environment_id)
    return { session: null };
  if (place.is_framed && (await readEmbedOrigins(deps.pool, scope)).length === 0)
    return { session: null };
  const [expires_at, type, seller, own, { sections = [] }, clockTime] = await Promise.all([
    getSessionEnd(deps.pool, scope, session_id),
    findEnvironmentType(deps.pool, scope),
    readBrand(deps.pool, scope),
    getCustomer(deps.pool, scope, customer_id),
    readSetting(deps.pool, scope, 'customer_portal_config'),
    timeOfNames(deps.pool, scope, namesIn({ customer_id }), false),
  ]);
  const expires_in_seconds = Math.floor((Date.parse(expires_at) - deps.clock.now()) / 1000);
  return {
    session: {
      token,
      expires_at,
      expires_in_seconds,
      seller,
      usage_page: usagePageOf(sections),
      is_test: type !== 'production',
      pages: shownPagesOf(sections),
      customer: {
        name: own.name,
        timezone: own.timezone || 'UTC',
        now: clockTime ?? isoTime(deps.clock.now()),
      },
    },
  };
}

function tokenIn(headers: Headers, { is_framed }: PortalPlace): string | null {
  const name = is_framed ? FRAMED_COOKIE : COOKIE;
  const token = cookieOf([headers['cookie'] ?? []].flat().join('; '), name);
  return token === null || token === '' ? null : token;
}

/** A site that frames the portal is another site: only `SameSite=None` with a partition of its own reaches it. */
const cookie = ({ is_framed }: PortalPlace, token: string, seconds: number): string =>
  is_framed ? framedHostCookie(FRAMED_COOKIE, token, seconds) : hostCookie(COOKIE, token, seconds);
