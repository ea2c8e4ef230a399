import type { FastifyRequest } from 'fastify';
import { allows, type Permission } from '../../domain/access/permissions.ts';
import { BillingError } from '../../domain/errors.ts';
import type { Authenticate } from '../identity/api-key-auth.ts';
import { credentialOf, environmentOf } from '../identity/credential.ts';
import { NOBODY, type CustomerIdentity, type Identity } from '../identity/identity.ts';
import type { PortalSessions } from '../identity/portal-sessions.ts';
import type { Sessions } from '../identity/sessions.ts';
import { keepIdentity } from './request-identity.ts';
import type { Route } from './route.ts';

export interface AdmitOptions {
  readonly authenticate: Authenticate;
  /** Without it only keys are accepted. */
  readonly sessions?: Sessions;
  /** Without it portal routes refuse every caller. */
  readonly portalSessions?: Pick<PortalSessions, 'authenticate'>;
}

type GuardedRoute = Pick<
  Route,
  'humanOnly' | 'humanSuperAdminOnly' | 'sessionOnly' | 'recentLogin'
>;

/** The caller of a request: 401 without a valid credential, 403 without the permission of the route. */
export async function admit(
  route: GuardedRoute & Pick<Route, 'permission' | 'withoutEnvironment'>,
  request: FastifyRequest,
  options: AdmitOptions,
): Promise<Identity> {
  if (route.permission === 'public') return NOBODY;
  if (route.permission === 'portal') return await admitCustomer(request, options.portalSessions);
  const credential = credentialOf(request.headers);
  if (credential === null)
    throw unauthenticated('Send an API key in x-api-key, or a token in Authorization: Bearer.');
  const identity =
    credential.kind === 'token'
      ? await options.sessions?.authenticate(
          credential.value,
          environmentOf(request.headers),
          route.withoutEnvironment !== true,
        )
      : await options.authenticate(credential.value);
  if (identity == null)
    throw unauthenticated('The API key or token is unknown, was withdrawn, or has expired.');
  if (identity.kind === 'key' && identity.publishable !== undefined)
    throw unauthenticated(
      'A publishable key sends events, by POST /events, and does nothing else.',
    );
  // Known before the permission is checked: a refused request is logged with its caller.
  keepIdentity(request, identity);
  assertAllowed(route, identity);
  return identity;
}

/** The end customer of a portal session. API keys and session tokens are not accepted here. */
async function admitCustomer(
  request: FastifyRequest,
  sessions: Pick<PortalSessions, 'authenticate'> | undefined,
): Promise<CustomerIdentity> {
  const token = request.headers['x-session-token'];
  if (typeof token !== 'string' || token === '')
    throw unauthenticated('Send the token of a portal session in X-Session-Token.');
  const identity = await sessions?.authenticate(token);
  if (identity == null) throw unauthenticated('The portal session is unknown or has ended.');
  return identity;
}

/** Deny by default: 403 unless the caller has exactly the permission that the route requires. */
export function assertAllowed(
  route: GuardedRoute & { readonly permission: string },
  identity: Identity,
): void {
  if (
    route.permission !== 'authenticated' &&
    !allows(identity.permissions, route.permission as Permission)
  )
    throw forbidden(`The credential needs permission ${route.permission}.`);
  if (route.sessionOnly === true && identity.kind !== 'person')
    throw forbidden(
      'Only a person who is logged in may do this: send the token of a session, not an API key.',
    );
  if (route.humanOnly === true && identity.user_type !== 'user')
    throw forbidden('Only a person, or a key of a person, may do this.');
  const isHumanSuperAdmin = identity.user_type === 'user' && identity.roles.includes('super_admin');
  if (route.humanSuperAdminOnly === true && !isHumanSuperAdmin)
    throw forbidden('Only a person who is super admin may do this.');
  if (route.recentLogin === true) assertRecentLogin(identity);
}

/**
 * 403 `login_required` for a session whose person has not logged in, or confirmed the password, lately. A
 * stranger at an open session must not take the tenant over. Keys of programs are not concerned (tenancy 14.5.8).
 */
export function assertRecentLogin(identity: Identity): void {
  if (identity.kind !== 'person' || identity.has_recent_login) return;
  throw new BillingError(
    'forbidden',
    'login_required',
    'This needs a recent login. Confirm your password, or log in again, and repeat the request.',
  );
}

const unauthenticated = (message: string): BillingError =>
  new BillingError('unauthenticated', 'unauthenticated', message);
/** Whether the error is a 401: it counts against the address of the caller. */
export const isRefusedCredential = (error: unknown): boolean =>
  error instanceof BillingError && error.kind === 'unauthenticated';
const forbidden = (message: string): BillingError =>
  new BillingError('forbidden', 'permission_denied', message);
