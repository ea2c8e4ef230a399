import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makePasswordToken } from '../api/tenancy/auth/one-time-token-repository.ts';
import type { Pool } from '../postgres/client.ts';
import type { Ids } from '../platform/ids.ts';

const BOOTSTRAP_LOCK = 7_305_812;

export interface Bootstrap {
  /** The development key if this machine knows it: created now, or stored in the data directory. */
  readonly apiKey: string | null;
  /** The first person's address and a token that sets their password; null after the first start. */
  readonly firstPerson: { readonly email: string; readonly token: string } | null;
}

/**
 * On an empty database: creates a tenant with a production and a development environment, a super admin
 * without a password and a token that sets it, and an API key for the development environment. A later start
 * finds them and changes nothing, so a key in the configuration is used on the first start only. The database
 * stores a hash of the key. The key itself is written to a file that only this user may read, so that the
 * next start can print it again.
 */
export async function bootstrapTenant(
  pool: Pool,
  ids: Ids,
  options: {
    readonly dataDirectory: string | null;
    readonly apiKey: string | undefined;
    readonly email: string;
    readonly nowMs: number;
  },
): Promise<Bootstrap> {
  const keyFile = options.dataDirectory === null ? null : join(options.dataDirectory, 'api-key');
  const apiKey = options.apiKey ?? `sk_test_${randomBytes(32).toString('base64url')}`;
  const firstPerson = await pool.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${BOOTSTRAP_LOCK})`;
    const [existing] = await tx`select 1 from tenants limit 1`;
    if (existing !== undefined) return null;

    const tenantId = ids.next('tenant');
    const userId = ids.next('user');
    const environments = { production: ids.next('env'), development: ids.next('env') };
    await tx`insert into tenants (id, name) values (${tenantId}, 'Default')`;
    for (const [type, id] of Object.entries(environments)) {
      const name = type === 'production' ? 'Production' : 'Development';
      await tx`insert into environments ${tx({ id, tenant_id: tenantId, name, type, created_by: userId, updated_by: userId })}`;
    }
    await tx`insert into users ${tx({
      id: userId,
      tenant_id: tenantId,
      email: options.email.toLowerCase(),
      name: 'Administrator',
      type: 'user',
      roles: ['super_admin'],
      created_by: userId,
      updated_by: userId,
    })}`;
    await tx`insert into api_keys ${tx({
      id: ids.next('secret'),
      tenant_id: tenantId,
      environment_id: environments.development,
      user_id: userId,
      name: 'First key',
      key_hash: createHash('sha256').update(apiKey).digest(),
      display_id: `${apiKey.slice(0, 8)}…${apiKey.slice(-4)}`,
      roles: ['super_admin'],
      created_by: userId,
      updated_by: userId,
    })}`;
    const person = { id: userId, tenant_id: tenantId };
    const token = await makePasswordToken(tx, person, 'first_start', options.nowMs);
    return { email: options.email.toLowerCase(), token };
  });
  if (keyFile === null) return { apiKey: firstPerson === null ? null : apiKey, firstPerson };
  if (firstPerson !== null) writeFileSync(keyFile, `${apiKey}\n`, { mode: 0o600 });
  return {
    apiKey: existsSync(keyFile) ? readFileSync(keyFile, 'utf8').trim() : null,
    firstPerson,
  };
}
