import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { permissionsOfKey } from '../../domain/access/permissions.ts';
import type { Pool } from '../../postgres/client.ts';
import type { Clock } from '../clock.ts';
import type { KeyIdentity, PublishableLimits } from './identity.ts';

/**
 * Null for a key that is unknown, deleted or expired. Throws the driver's error when Postgres is unavailable.
 */
export type Authenticate = (apiKey: string) => Promise<KeyIdentity | null>;

export interface ApiKeyAuth {
  readonly authenticate: Authenticate;
  /** Forgets a changed or deleted key in this process and, by a notice, in every other process. */
  forget(keyId: string): Promise<void>;
  close(): Promise<void>;
}

export interface ApiKeyAuthOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  /** How long a key is cached without checking the database; bounds the effect of a lost notice. */
  readonly ttlMs?: number;
}

const CHANNEL = 'api_key_changed';
const LAST_USED_STEP_SECONDS = 300;

interface CachedKey {
  readonly identity: KeyIdentity;
  readonly expires_at_ms: number;
}

/**
 * Keys are looked up by their SHA-256 and cached for a moment. Deleting a key notifies every process through
 * Postgres, so that it is refused at once. A lost connection may have missed a notice, so the cache is
 * cleared when it is back. Unknown keys are not cached: a flood of them would evict the known ones. Use is
 * recorded at most every five minutes per key, and no request waits for that.
 */
export async function createApiKeyAuth(options: ApiKeyAuthOptions): Promise<ApiKeyAuth> {
  const { pool, clock } = options;
  // Key id → hash, for exactly the keys in the cache: `forget` finds a key here.
  const hashOfKey = new Map<string, string>();
  const cache = new LRUCache<string, CachedKey>({
    max: 10_000,
    ttl: options.ttlMs ?? 5_000,
    dispose: (cached) => hashOfKey.delete(cached.identity.key_id),
    noDisposeOnSet: true,
  });
  const drop = (keyId: string): void => {
    const hash = hashOfKey.get(keyId);
    if (hash !== undefined) cache.delete(hash);
  };
  // A look-up that began before a deletion must not be cached after it.
  let generation = 0;
  const listener = await pool.listen(
    CHANNEL,
    (keyId) => {
      generation += 1;
      drop(keyId);
    },
    () => {
      generation += 1;
      cache.clear();
    },
  );

  return {
    async authenticate(apiKey) {
      if (apiKey === '' || apiKey.length > 512) return null;
      const digest = createHash('sha256').update(apiKey).digest();
      const hash = digest.toString('base64');
      const cached = cache.get(hash);
      if (cached !== undefined) return cached.expires_at_ms > clock.now() ? cached.identity : null;

      const begun = generation;
      const found = await findKey(pool, digest);
      if (found === null || found.expires_at_ms <= clock.now()) return null;
      if (generation === begun) {
        cache.set(hash, found);
        hashOfKey.set(found.identity.key_id, hash);
      }
      void noteUse(pool, found.identity.key_id).catch(() => {});
      return found.identity;
    },
    async forget(keyId) {
      generation += 1;
      drop(keyId);
      await pool`select pg_notify(${CHANNEL}, ${keyId})`;
    },
    close: () => listener.unlisten(),
  };
}

interface KeyRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly environment_type: 'production' | 'development';
  readonly environment_ids: string[] | null;
  readonly user_id: string | null;
  readonly user_type: 'user' | 'service_account' | null;
  readonly type: string;
  readonly allowed_event_names: string[] | null;
  readonly external_customer_id: string | null;
  readonly roles: string[];
  readonly permissions: string[];
  readonly expires_at: string | null;
}

async function findKey(pool: Pool, digest: Buffer): Promise<CachedKey | null> {
  const [row] = await pool<KeyRow[]>`
    select k.id, k.tenant_id, k.environment_id, e.type as environment_type,
           k.user_id, u.type as user_type, u.environment_ids,
           k.type, k.allowed_event_names, k.external_customer_id, k.roles, k.permissions, k.expires_at
      from api_keys k
      join environments e on e.id = k.environment_id
      left join users u on u.id = k.user_id
     where k.key_hash = ${digest}
       and k.status = 'published'
       and (u.id is null or u.status = 'published')`;
  if (row === undefined) return null;
  const { tenant_id, environment_id, roles } = row;
  return {
    identity: {
      kind: 'key',
      tenant_id,
      environment_id,
      key_id: row.id,
      ...(row.type === 'publishable_key' ? { publishable: limitsOf(row) } : {}),
      user_id: row.user_id ?? '',
      user_type: row.user_type ?? 'service_account',
      environment_ids: row.user_type === 'user' ? row.environment_ids : [environment_id],
      environment_type: row.environment_type,
      roles,
      permissions: permissionsOfKey(row),
    },
    expires_at_ms: row.expires_at === null ? Infinity : Date.parse(row.expires_at),
  };
}

const limitsOf = ({ allowed_event_names, external_customer_id }: KeyRow): PublishableLimits => ({
  allowed_event_names,
  external_customer_id,
});

async function noteUse(pool: Pool, keyId: string): Promise<void> {
  await pool`
    update api_keys
       set last_used_at = now()
     where id = ${keyId}
       and (last_used_at is null
            or last_used_at < now() - make_interval(secs => ${LAST_USED_STEP_SECONDS}))`;
}
