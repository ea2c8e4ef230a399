import { EVERY_ENVIRONMENT, type Actor, type Session } from '../../postgres/scoped-pool.ts';
import type { Identity } from './identity.ts';

/**
 * Settings of the database session of a request: they restrict its statements to the caller's rows and name
 * the caller for the audit log. Public routes (sign-up, login) have no tenant yet and work across tenants;
 * routes about the tenant see all its environments.
 */
export function requestSession(
  route: { readonly withoutEnvironment?: boolean },
  identity: Identity,
  request: {
    readonly id: string;
    readonly ip: string;
    readonly method: string;
    readonly headers: { readonly 'user-agent'?: string };
  },
): Session {
  const actor: Actor = {
    kind: actorKindOf(identity),
    ...(identity.user_id === '' ? {} : { user_id: identity.user_id }),
    ...(identity.key_id === null ? {} : { key_id: identity.key_id }),
    request_id: request.id,
    ip: request.ip,
    // Reads leave nothing in the audit log.
    ...(request.method === 'GET' ? {} : userAgentOf(request.headers)),
  };
  if (identity.kind === 'nobody') return { scope: null, actor };
  const { tenant_id, environment_id } = identity;
  return {
    scope: {
      tenant_id,
      environment_id: route.withoutEnvironment === true ? EVERY_ENVIRONMENT : environment_id,
    },
    actor,
  };
}

function actorKindOf(identity: Identity): Actor['kind'] {
  switch (identity.kind) {
    case 'key':
    case 'person':
      return identity.user_type;
    case 'customer':
      return 'customer';
    case 'nobody':
      return 'public';
    default:
      return identity satisfies never;
  }
}

const USER_AGENT_LENGTH_MAX = 200;

/** Truncated, and without control characters that a terminal would run: it is shown to people. */
export function userAgentOf(headers: { readonly 'user-agent'?: string }): {
  readonly user_agent?: string;
} {
  const text = headers['user-agent']?.slice(0, USER_AGENT_LENGTH_MAX).replace(/[^\x20-\x7e]/g, '?');
  return text === undefined || text === '' ? {} : { user_agent: text };
}
