import { createHash, randomBytes } from 'node:crypto';
import { inScope, type Pool, type Scope, type Transaction } from '../../postgres/client.ts';
import { isoTime, type Clock } from '../clock.ts';
import type { Ids } from '../ids.ts';
import type { CustomerIdentity } from './identity.ts';

/** How long an end customer may use the portal before the tenant must open another session. */
const SESSION_SECONDS = 3600;

export interface OpenedPortalSession {
  readonly token: string;
  readonly expires_at: string;
}

/** The caller that opens a session: `user_id` is stored as its creator. */
interface Opener {
  readonly scope: Scope;
  readonly user_id: string;
}

/**
 * Sessions of end customers. The token is 256 random bits without meaning, stored as its SHA-256. It belongs
 * to one customer of one environment and is accepted on portal routes only (tenancy S8).
 */
export interface PortalSessions {
  /** `customerId` is a published customer of the scope; the caller has checked that. */
  open(tx: Transaction, opener: Opener, customerId: string): Promise<OpenedPortalSession>;
  /** Null for a token that is unknown or expired, and for a token of an archived customer. */
  authenticate(token: string): Promise<CustomerIdentity | null>;
}

export function createPortalSessions(options: {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly ids: Ids;
}): PortalSessions {
  const { pool, clock, ids } = options;
  return {
    async open(tx, { scope, user_id }, customerId) {
      const token = `portal_${randomBytes(32).toString('base64url')}`;
      const now = isoTime(clock.now());
      const expires_at = isoTime(clock.now() + SESSION_SECONDS * 1000);
      await tx`
        delete from portal_sessions
         where ${inScope(tx, scope)} and customer_id = ${customerId} and expires_at <= ${now}`;
      await tx`insert into portal_sessions ${tx({
        id: ids.next('portal_session'),
        ...scope,
        customer_id: customerId,
        token_hash: hashOf(token),
        expires_at,
        created_at: now,
        updated_at: now,
        created_by: user_id,
        updated_by: user_id,
      })}`;
      return { token, expires_at };
    },

    async authenticate(token) {
      if (!/^portal_[A-Za-z0-9_-]{43}$/.test(token)) return null;
      const [session] = await pool<SessionRow[]>`
        select s.id, s.tenant_id, s.environment_id, s.customer_id
          from portal_sessions s
          join customers c on c.id = s.customer_id
           and c.tenant_id = s.tenant_id and c.environment_id = s.environment_id
         where s.token_hash = ${hashOf(token)}
           and s.status = 'published' and s.expires_at > ${isoTime(clock.now())}
           and c.status = 'published'`;
      if (session === undefined) return null;
      return {
        kind: 'customer',
        tenant_id: session.tenant_id,
        environment_id: session.environment_id,
        key_id: null,
        session_id: session.id,
        customer_id: session.customer_id,
        user_id: session.customer_id,
        user_type: 'user',
        roles: [],
        permissions: [],
        environment_ids: [session.environment_id],
        environment_type: null,
      };
    },
  };
}

interface SessionRow extends Scope {
  readonly id: string;
  readonly customer_id: string;
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();
