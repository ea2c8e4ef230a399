import { assertRoles, mayGrant } from '../../../domain/access/permissions.ts';
import { invitedTo } from '../../../domain/access/reach.ts';
import { BillingError, invalidField } from '../../../domain/errors.ts';
import type { Identity } from '../../../platform/identity/identity.ts';
import type { CreatedUser, CreateUserBody } from '../../../schemas/tenancy.ts';
import { firstPassword, hashPassword } from './passwords.ts';
import { INVITATION_EMAIL, queueEmail } from '../../../postgres/tables/email-queue.ts';
import type { ApiDeps } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { tenantLimits } from '../tenants/limits.ts';
import { countPeople, insertUser, withTenant, type UserRow } from './repository.ts';

const DEFAULT_ROLES = ['all_reader'];

export const forbidden = (message: string): BillingError =>
  new BillingError('forbidden', 'permission_denied', message);

/**
 * Invites a person, with a password that is shown once and an e-mail with which they choose their own, or creates a
 * service account with permanent roles. Only super admins invite people, and keys of service accounts never do; no
 * caller grants more rights than they hold (tenancy 14.2). A person invited with a key has access only to the key's
 * environment (tenancy 52).
 */
export async function createUser(
  deps: ApiDeps,
  caller: Caller & { readonly identity: Identity },
  body: CreateUserBody,
): Promise<CreatedUser> {
  const { identity } = caller;
  if (body.type === 'user' && !identity.roles.includes('super_admin'))
    throw forbidden('Only a super admin may invite people.');
  if (body.type === 'user' && identity.user_type !== 'user')
    throw forbidden('Keys of service accounts cannot invite people.');
  const roles = rolesFor(body);
  if (!mayGrant(identity, roles))
    throw forbidden('Permissions beyond those of the caller cannot be granted.');

  const password = body.type === 'user' ? firstPassword() : null;
  const password_hash = password === null ? null : await hashPassword(password);
  const { id, created_at, updated_at, created_by, updated_by } = newRecord(deps, caller, 'user');
  const row: UserRow = {
    id,
    email: body.type === 'user' ? body.email!.toLowerCase() : null,
    name: body.name ?? null,
    type: body.type,
    roles,
    metadata: {},
    environment_ids: body.type === 'user' ? copyOf(invitedTo(identity)) : null,
  };
  const { tenant_id } = caller.scope;
  return await deps.pool.begin(async (tx) => {
    if (body.type === 'user') {
      const { max_users } = await tenantLimits(tx, tenant_id, deps.settings);
      if ((await countPeople(tx, tenant_id)) >= max_users)
        throw invalidField('type', `the tenant may have ${max_users} people`);
    }
    const times = { created_at, updated_at, created_by, updated_by };
    await insertUser(tx, { ...row, ...times, tenant_id, password_hash });
    if (row.email !== null && deps.sendsEmail && !row.email.endsWith('@localhost'))
      await queueEmail(tx, {
        id: deps.ids.next('email'),
        kind: INVITATION_EMAIL,
        recipient: row.email,
        payload: { user_id: id },
        created_at,
      });
    return { ...(await withTenant(tx, tenant_id, row)), password };
  });
}

const copyOf = (ids: readonly string[] | null): string[] | null => (ids === null ? null : [...ids]);

function rolesFor(body: CreateUserBody): string[] {
  if (body.type === 'user') {
    if (!body.email) throw invalidField('email', 'is required for a user');
    const roles = body.roles?.length ? body.roles : DEFAULT_ROLES;
    assertRoles('user', roles);
    return roles;
  }
  if (body.email) throw invalidField('email', 'is not for a service account');
  assertRoles('service_account', body.roles ?? []);
  return body.roles!;
}
