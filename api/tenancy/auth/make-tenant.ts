import { alreadyExists } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import { violatedConstraint, type Pool, type Transaction } from '../../../postgres/client.ts';
import type { ApiDeps } from '../../deps.ts';
import { insertTenant } from './repository.ts';

/** The person who signs up and their data. The address is in lower case. */
export interface NewTenant {
  readonly email: string;
  readonly tenant_name: string | null;
  readonly password_hash: string | null;
}

/**
 * Creates a tenant with its first person, who is super admin, and a development environment. `first` runs
 * before, in the same transaction. 409 if the address has an account.
 */
export async function makeTenant(
  pool: Pool,
  { ids, clock }: Pick<ApiDeps, 'ids' | 'clock'>,
  { email, tenant_name, password_hash }: NewTenant,
  first: (tx: Transaction) => Promise<void> = async () => {},
): Promise<{ readonly id: string; readonly tenant_id: string }> {
  const at = isoTime(clock.now());
  const times = { created_at: at, updated_at: at };
  const tenant = { id: ids.next('tenant'), name: tenant_name ?? email, ...times };
  const user = { id: ids.next('user'), tenant_id: tenant.id };
  const by = { created_by: user.id, updated_by: user.id, ...times };
  try {
    await pool.begin(async (tx) => {
      await first(tx);
      await insertTenant(tx, {
        tenant,
        user: { ...user, ...by, email, type: 'user', roles: ['super_admin'], password_hash },
        environment: {
          id: ids.next('env'),
          tenant_id: tenant.id,
          name: 'Sandbox',
          type: 'development',
          ...by,
        },
      });
    });
  } catch (error) {
    throw violatedConstraint(error) === 'users_email_key'
      ? alreadyExists('account', 'email', email)
      : error;
  }
  return user;
}
