import assert from 'node:assert/strict';
import type { Identity } from '../../../platform/identity/identity.ts';

/** The person, session and origin of a request. */
export interface OwnSession {
  readonly tenant_id: string;
  readonly user_id: string;
  readonly session_id: string;
  readonly ip: string;
}

/** The session of the caller. The route is `sessionOnly`. */
export function ownSession({
  identity,
  ip,
}: {
  readonly identity: Identity;
  readonly ip: string;
}): OwnSession {
  assert(identity.kind === 'person');
  const { session_id, tenant_id, user_id } = identity;
  return { tenant_id, user_id, session_id, ip };
}
