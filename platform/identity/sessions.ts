import { createHash, randomBytes } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { permissionsOf } from '../../domain/access/permissions.ts';
import { BillingError } from '../../domain/errors.ts';
import type { Db, Pool } from '../../postgres/client.ts';
import { isoTime, type Clock } from '../clock.ts';
import { isPasswordRefused } from './saml/enforced.ts';
import type { PersonIdentity } from './identity.ts';
import { createSigningKeys, type SigningKeys } from './signing-keys.ts';

const ISSUER = 'meterline';
const AUDIENCE = 'dashboard';
const TOKEN_SECONDS = 15 * 60;
const SESSION_SECONDS = 30 * 86_400;
const RECENT_LOGIN_MINUTES = 15;

export interface OpenedSession {
  readonly token: string;
  /** When the token ends; the refresh token gets a new one until the session ends. */
  readonly expires_at: string;
  readonly refresh_token: string;
  readonly user_id: string;
  readonly tenant_id: string;
}

/** The device that opens a session. */
export interface Device {
  readonly ip: string;
  readonly user_agent?: string;
}

/** A session and the person that it belongs to. */
export interface SessionOwner {
  readonly tenant_id: string;
  readonly user_id: string;
  readonly session_id: string;
}

/** How a person authenticated. */
export type SessionOpener = 'password' | 'identity_provider';

/**
 * Sessions of people: a token of 15 minutes, and a refresh token that is exchanged at every use. The session
 * row is checked on every request, so a person who is removed or logs out is refused at once. A session that
 * was opened with a password ends permanently when the tenant stops accepting that password (tenancy
 * 14.5.7).
 */
export interface Sessions {
  open(
    db: Db,
    user: { readonly id: string; readonly tenant_id: string },
    openedBy: SessionOpener,
    device: Device,
  ): Promise<OpenedSession>;
  /**
   * Throws 401 for a token that is unknown, expired, or already exchanged; the last case also ends the
   * session.
   */
  refresh(db: Db, refreshToken: string): Promise<OpenedSession>;
  /** Notes that the person of the session has proved who they are now. */
  confirm(db: Db, session: Pick<SessionOwner, 'tenant_id' | 'session_id'>): Promise<void>;
  /** The open session with this refresh token, without exchanging the token; null if there is none. */
  ownerOf(db: Db, refreshToken: string): Promise<SessionOwner | null>;
  /**
   * Null for an invalid token. `environmentId` is the one that the caller named: throws 403 if it is missing,
   * is not the tenant's, or is not one of the person's. A route that needs no environment ignores it: a
   * browser that remembers a deleted environment can still list the existing ones.
   */
  authenticate(
    token: string,
    environmentId: string | null,
    needsEnvironment: boolean,
  ): Promise<PersonIdentity | null>;
}

export async function createSessions(options: {
  readonly pool: Pool;
  readonly clock: Clock;
  /** How long after a login a person need not confirm who they are. */
  readonly recentLoginMinutes?: number;
}): Promise<Sessions> {
  const { pool, clock, recentLoginMinutes = RECENT_LOGIN_MINUTES } = options;
  const keys = await createSigningKeys(options);
  const seconds = () => Math.floor(clock.now() / 1000);

  const sign = async (user: { id: string; tenant_id: string }, sid: string) => {
    const expiresAt = seconds() + TOKEN_SECONDS;
    const signing = await keys.newest();
    const token = await new SignJWT({ tenant_id: user.tenant_id, sid })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: signing.id })
      .setSubject(user.id)
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setIssuedAt(seconds())
      .setExpirationTime(expiresAt)
      .sign(signing.secret);
    return { token, expires_at: isoTime(expiresAt * 1000) };
  };

  /** Ends the session if the person opened it with a password that the tenant no longer accepts. */
  const isShut = async (session: SessionUser): Promise<boolean> => {
    if (session.opened_by !== 'password' || !(await isPasswordRefused(pool, session))) return false;
    await pool`
      update sessions set ended_at = ${isoTime(clock.now())}
       where id = ${session.session_id} and ended_at is null`;
    return true;
  };

  return {
    async open(db, user, openedBy, { ip, user_agent }) {
      const sid = randomBytes(32).toString('base64url');
      const refreshToken = newRefreshToken(sid);
      await db`with opened as (insert into sessions ${db({
        id: sessionId(sid),
        tenant_id: user.tenant_id,
        user_id: user.id,
        refresh_hash: hashOf(refreshToken),
        opened_by: openedBy,
        ip,
        user_agent: user_agent ?? null,
        expires_at: isoTime(clock.now() + SESSION_SECONDS * 1000),
        created_at: isoTime(clock.now()),
        authenticated_at: isoTime(clock.now()),
      })} returning id, tenant_id, user_id, opened_by)
      select audit_access(tenant_id, user_id, 'logged_in',
                          jsonb_build_object('reason', opened_by, 'session_id', id), null)
        from opened`;
      const signed = await sign(user, sid);
      return {
        ...signed,
        refresh_token: refreshToken,
        user_id: user.id,
        tenant_id: user.tenant_id,
      };
    },

    async refresh(db, refreshToken) {
      const sid = refreshToken.slice(0, refreshToken.indexOf('.'));
      const next = newRefreshToken(sid);
      const exchanged = await exchange(db, refreshToken, next, isoTime(clock.now()));
      if (exchanged === null || (await isShut(exchanged))) throw sessionEnded();
      const signed = await sign(exchanged, sid);
      const { id: user_id, tenant_id } = exchanged;
      return { ...signed, refresh_token: next, user_id, tenant_id };
    },

    async confirm(db, { tenant_id, session_id }) {
      await db`
        update sessions set authenticated_at = ${isoTime(clock.now())}
         where tenant_id = ${tenant_id} and id = ${session_id} and ended_at is null`;
    },

    async ownerOf(db, refreshToken) {
      const [owner] = await db<SessionOwner[]>`
        select s.tenant_id, s.user_id, s.id as session_id
          from sessions s
          join users u on u.id = s.user_id and u.tenant_id = s.tenant_id
         where s.refresh_hash = ${hashOf(refreshToken)}
           and s.ended_at is null and s.expires_at > ${isoTime(clock.now())}
           and u.status = 'published'`;
      return owner ?? null;
    },

    async authenticate(token, environmentId, needsEnvironment) {
      const claims = await verified(token, keys, clock);
      if (claims === null) return null;
      const user = await sessionUser(pool, claims, isoTime(clock.now()));
      if (user === null || (await isShut(user))) return null;
      const environment_id = await ownEnvironment(pool, user, environmentId);
      if (environment_id === null && needsEnvironment) throw noEnvironment();
      return {
        kind: 'person',
        tenant_id: user.tenant_id,
        environment_id: environment_id ?? '',
        key_id: null,
        session_id: user.session_id,
        has_recent_login:
          clock.now() - Date.parse(user.authenticated_at) <= recentLoginMinutes * 60_000,
        user_id: user.id,
        user_type: 'user',
        roles: user.roles,
        permissions: permissionsOf(user.roles),
        environment_ids: user.environment_ids,
        environment_type: null,
      };
    },
  };
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/**
 * The id of a session in the database. The claim `sid` is a secret that only the session's own token carries:
 * a copy of the database, including the signing key, is not enough to make a token.
 */
const sessionId = (sid: string): string => hashOf(sid).toString('hex');

const newRefreshToken = (sid: string): string => `${sid}.${randomBytes(32).toString('base64url')}`;

const sessionEnded = (): BillingError =>
  new BillingError('unauthenticated', 'unauthenticated', 'The session has ended. Log in again.');

const noEnvironment = (): BillingError =>
  new BillingError(
    'forbidden',
    'permission_denied',
    'Name an environment of your tenant in the header X-Environment-ID.',
  );

interface Claims {
  readonly sub: string;
  readonly tenant_id: string;
  readonly sid: string;
}

/** One algorithm, one issuer, one audience, a list of keys; every other token is refused. */
async function verified(token: string, keys: SigningKeys, clock: Clock): Promise<Claims | null> {
  const kid = keyIdOf(token);
  const key = kid === null ? null : await keys.find(kid);
  if (key === null) return null;
  try {
    const { payload } = await jwtVerify(token, key.secret, {
      algorithms: ['HS256'],
      issuer: ISSUER,
      audience: AUDIENCE,
      requiredClaims: ['sub', 'exp', 'iat', 'sid', 'tenant_id'],
      typ: 'JWT',
      currentDate: new Date(clock.now()),
    });
    const { sub, tenant_id, sid } = payload;
    if (typeof sub !== 'string' || typeof tenant_id !== 'string' || typeof sid !== 'string')
      return null;
    return { sub, tenant_id, sid };
  } catch {
    return null;
  }
}

/** The key id in the header; untrusted until the signature is verified. */
function keyIdOf(token: string): string | null {
  try {
    const { kid } = decodeProtectedHeader(token);
    return typeof kid === 'string' ? kid : null;
  } catch {
    return null;
  }
}

interface SessionUser {
  readonly id: string;
  readonly tenant_id: string;
  readonly roles: string[];
  /** Null means all environments of the tenant. */
  readonly environment_ids: string[] | null;
  readonly session_id: string;
  readonly opened_by: SessionOpener;
  readonly authenticated_at: string;
}

async function sessionUser(pool: Pool, claims: Claims, now: string): Promise<SessionUser | null> {
  const [user] = await pool<SessionUser[]>`
    select u.id, u.tenant_id, u.roles, u.environment_ids, s.id as session_id, s.opened_by,
           s.authenticated_at
      from sessions s
      join users u on u.id = s.user_id and u.tenant_id = s.tenant_id
     where s.id = ${sessionId(claims.sid)}
       and s.user_id = ${claims.sub}
       and s.tenant_id = ${claims.tenant_id}
       and s.ended_at is null
       and s.expires_at > ${now}
       and u.status = 'published'
       and u.type = 'user'`;
  return user ?? null;
}

/** The named environment if it is the tenant's and one of the person's; null otherwise. */
async function ownEnvironment(
  pool: Pool,
  { tenant_id, environment_ids }: SessionUser,
  id: string | null,
): Promise<string | null> {
  if (id === null || environment_ids?.includes(id) === false) return null;
  const [row] = await pool<{ id: string }[]>`
    select id from environments
     where tenant_id = ${tenant_id} and id = ${id} and status = 'published'`;
  return row?.id ?? null;
}

/** Replaces the given refresh token with the next one; ends the session if the token was already used. */
async function exchange(
  db: Db,
  refreshToken: string,
  next: string,
  now: string,
): Promise<SessionUser | null> {
  const hash = hashOf(refreshToken);
  const [session] = await db<SessionUser[]>`
    with exchanged as (
      update sessions s
         set refresh_hash = ${hashOf(next)}, last_used_at = ${now}
        from users u
       where s.refresh_hash = ${hash}
         and s.ended_at is null and s.expires_at > ${now}
         and u.id = s.user_id and u.status = 'published'
      returning u.id, u.tenant_id, u.roles, u.environment_ids, s.id as session_id, s.opened_by,
                s.authenticated_at
    ), spent as (
      insert into spent_refresh_tokens (refresh_hash, session_id, spent_at)
      select ${hash}, session_id, ${now} from exchanged
    )
    select * from exchanged`;
  if (session !== undefined) return session;
  await db`
    with ended as (
      update sessions set ended_at = ${now}
       where ended_at is null
         and id = (select session_id from spent_refresh_tokens where refresh_hash = ${hash})
      returning id, tenant_id, user_id
    )
    select audit_access(tenant_id, user_id, 'refresh_reused',
                        jsonb_build_object('reason', 'spent_token', 'session_id', id), null)
      from ended`;
  return null;
}
