import { assertRoles, mayGrant } from '../../../domain/access/permissions.ts';
import { mayChangePerson } from '../../../domain/access/reach.ts';
import { invalidField, invalidOperation, notFound } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Identity } from '../../../platform/identity/identity.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { UpdateMeBody } from '../../../schemas/tenancy.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import { forbidden } from './create-user.ts';
import { endKeys } from './key-chain-repository.ts';
import {
  countPeople,
  endSessionsOfUser,
  findKeyIds,
  hasOtherSuperAdmin,
  liveKeyIds,
  lockUser,
  updateUserRow,
  type UserRow,
} from './repository.ts';

type IdentifiedCaller = Caller & { readonly identity: Identity };

/**
 * Replaces a person's roles. Refused: one's own roles, the last super admin's, while live keys have the old
 * roles, and a person who holds more rights or other environments than the caller.
 */
export async function replaceRoles(
  tx: Transaction,
  deps: BillingDeps,
  caller: IdentifiedCaller,
  id: string,
  roles: readonly string[],
): Promise<UserRow> {
  const { tenant_id } = caller.scope;
  await countPeople(tx, tenant_id);
  const user = await lockUser(tx, tenant_id, id);
  if (user.type === 'service_account')
    throw invalidField('id', 'the roles of a service account are fixed at creation');
  assertRoles('user', roles);
  if (!mayGrant(caller.identity, roles))
    throw forbidden('Permissions beyond those of the caller cannot be granted.');
  if (id === caller.user_id) throw invalidOperation('A person cannot change their own roles.');
  assertMayChange(caller, user);
  await assertNoLiveKeys(tx, deps, caller, id);
  const staysSuperAdmin = roles.includes('super_admin') || !isTenantSuperAdmin(user);
  if (!staysSuperAdmin && !(await hasOtherSuperAdmin(tx, tenant_id, id)))
    throw invalidOperation('This is the last super admin of the tenant.');
  return await updateUserRow(tx, tenant_id, id, { roles: [...roles], ...changed(deps, caller) });
}

/** Renames a service account. 404 for a person: people rename themselves. */
export async function renameServiceAccount(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
  name: string,
): Promise<UserRow> {
  const { tenant_id } = caller.scope;
  const user = await lockUser(tx, tenant_id, id);
  if (user.type !== 'service_account') throw notFound('Service account', id);
  return await updateUserRow(tx, tenant_id, id, { name, ...changed(deps, caller) });
}

/** The caller's own name and metadata. Metadata is merged key by key: null removes a key. */
export async function updateMe(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: UpdateMeBody,
): Promise<UserRow> {
  const { tenant_id } = caller.scope;
  const user = await lockUser(tx, tenant_id, caller.user_id);
  return await updateUserRow(tx, tenant_id, user.id, {
    name: body.name === undefined ? user.name : body.name,
    metadata: Object.fromEntries(
      Object.entries({ ...user.metadata, ...body.metadata }).flatMap(([key, value]) =>
        value === null ? [] : [[key, value] as const],
      ),
    ),
    ...changed(deps, caller),
  });
}

/** Archives a service account without keys. 400 for a person, who is removed instead. */
export async function archiveServiceAccount(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<void> {
  const { tenant_id } = caller.scope;
  const user = await lockUser(tx, tenant_id, id);
  if (user.type !== 'service_account')
    throw invalidField('id', 'is a person: use POST /users/{id}/remove');
  await assertNoLiveKeys(tx, deps, caller, id);
  await updateUserRow(tx, tenant_id, id, { status: 'archived', ...changed(deps, caller) });
}

/**
 * Removes a person from the tenant, with their sessions, their keys and the keys that these created. Refused:
 * oneself, the last person, the last super admin, and a person who holds more rights or other environments
 * than the caller. Returns the ids of the keys, which must be dropped from caches after the commit.
 */
export async function removePerson(
  tx: Transaction,
  deps: BillingDeps,
  caller: IdentifiedCaller,
  id: string,
): Promise<string[]> {
  const { tenant_id } = caller.scope;
  const people = await countPeople(tx, tenant_id);
  const user = await lockUser(tx, tenant_id, id);
  if (user.type !== 'user') throw invalidField('id', 'is a service account: delete it');
  if (id === caller.user_id) throw invalidOperation('A person cannot remove their own account.');
  assertMayChange(caller, user);
  if (people <= 1) throw invalidOperation('This is the last person of the tenant.');
  if (isTenantSuperAdmin(user) && !(await hasOtherSuperAdmin(tx, tenant_id, id)))
    throw invalidOperation('This is the last super admin of the tenant.');
  const at = isoTime(deps.clock.now());
  await updateUserRow(tx, tenant_id, id, { status: 'archived', ...changed(deps, caller) });
  await endSessionsOfUser(tx, id, at);
  return await endKeys(tx, deps, caller, await findKeyIds(tx, tenant_id, id));
}

const isTenantSuperAdmin = (user: UserRow): boolean =>
  user.roles.includes('super_admin') && user.environment_ids === null;

/**
 * 403 for a person who holds more rights than the caller, or environments that the caller has no access to.
 */
function assertMayChange({ identity }: IdentifiedCaller, person: UserRow): void {
  if (!mayChangePerson(identity, person))
    throw forbidden('The person has access to environments that the caller cannot access.');
  if (!mayGrant(identity, person.roles))
    throw forbidden('The person has permissions that the caller does not have.');
}

async function assertNoLiveKeys(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<void> {
  const keys = await liveKeyIds(tx, caller.scope.tenant_id, id, isoTime(deps.clock.now()));
  if (keys.length > 0)
    throw invalidOperation(
      `The account has active API keys. Delete them first: ${keys.join(', ')}`,
    );
}
