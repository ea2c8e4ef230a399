import { BillingError } from '../../../domain/errors.ts';
import type { Identity } from '../../../platform/identity/identity.ts';

/** The person, session and origin of a request. */
export interface OwnSession {
  readonly tenant_id: string;
  readonly user_id: string;
  readonly session_id: string;
  readonly ip: string;
}

/** 403 for keys: only a person has passwords and sessions. */
export function ownSession({
  identity,
  ip,
}: {
  readonly identity: Identity;
  readonly ip: string;
}): OwnSession {
  if (identity.kind !== 'person')
    throw new BillingError(
      'forbidden',
      'permission_denied',
      'Only a person who is logged in may do this: send the token of a session, not an API key.',
    );
  const { session_id, tenant_id, user_id } = identity;
  return { tenant_id, user_id, session_id, ip };
}
