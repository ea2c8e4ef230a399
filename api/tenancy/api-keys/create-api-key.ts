import { createHash, randomBytes } from 'node:crypto';
import { allows, permissionsOf, type Permission } from '../../../domain/access/permissions.ts';
import { invalidField, invalidOperation } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Identity } from '../../../platform/identity/api-key-auth.ts';
import { inScope, type Transaction } from '../../../postgres/client.ts';
import type { ApiKey, CreateApiKeyBody } from '../../../schemas/tenancy.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, newRecord, type Caller } from '../../conventions/record.ts';
import { forbidden } from '../users/create-user.ts';
import { lockUser } from '../users/repository.ts';
import { findApiKey, insertApiKey, updateApiKeyRow } from './repository.ts';

export type KeyCaller = Caller & { readonly identity: Identity };

/** The key, and the record about it. The key is kept nowhere. */
export interface MadeKey {
  readonly secret: ApiKey;
  readonly api_key: string;
}

/**
 * Makes a key for the caller, or for a service account. It carries the roles that its owner has now; the
 * owner's row is locked, so that no role changes in between (specification, Authentication 6).
 */
export async function createApiKey(
  tx: Transaction,
  deps: BillingDeps,
  caller: KeyCaller,
  body: CreateApiKeyBody,
): Promise<MadeKey> {
  const { identity, scope } = caller;
  if (body.expires_at && body.expires_at <= isoTime(deps.clock.now()))
    throw invalidField('expires_at', 'must be in the future');
  const ownerId = body.service_account_id ?? caller.user_id;
  const owner = await lockUser(tx, scope.tenant_id, ownerId);
  if (body.service_account_id && owner.type !== 'service_account')
    throw invalidField('service_account_id', 'is a person');
  const isForeign = ownerId !== caller.user_id;
  const isHumanSuperAdmin = identity.user_type === 'user' && identity.roles.includes('super_admin');
  if (isForeign && !isHumanSuperAdmin)
    throw forbidden('Only a person who is super admin makes keys for another account.');
  const permissions = body.permissions ?? [];
  assertWithin(permissions, permissionsOf(owner.roles));
  assertHeld(identity, { roles: owner.roles, permissions });
  return await mintKey(tx, deps, caller, {
    name: body.name,
    type: body.type,
    roles: owner.roles,
    permissions,
    user_id: ownerId,
    expires_at: body.expires_at ?? null,
  });
}

/**
 * A new key with the name, owner and rights of the old one, which goes on working for the overlap and
 * then expires; without an overlap it ends now.
 */
export async function rotateApiKey(
  tx: Transaction,
  deps: BillingDeps,
  caller: KeyCaller,
  id: string,
  overlapSeconds: number,
): Promise<MadeKey> {
  const { scope } = caller;
  await tx`select 1 from api_keys where ${inScope(tx, scope)} and id = ${id} for update`;
  const old = await findApiKey(tx, scope, id);
  assertOwnKey(caller, old);
  assertHeld(caller.identity, old);
  const now = deps.clock.now();
  if (old.status !== 'published' || (old.expires_at !== null && old.expires_at <= isoTime(now)))
    throw invalidOperation('The API key was deleted or has expired.');
  const made = await mintKey(tx, deps, caller, { ...old, expires_at: old.expires_at });
  const ends = isoTime(now + overlapSeconds * 1000);
  await updateApiKeyRow(tx, scope, id, {
    ...(overlapSeconds === 0
      ? { status: 'archived' }
      : { expires_at: old.expires_at !== null && old.expires_at < ends ? old.expires_at : ends }),
    ...changed(deps, caller),
  });
  return made;
}

/** 403 unless the key is the caller's own or the caller is super admin. */
export function assertOwnKey(caller: KeyCaller, key: ApiKey): void {
  if (caller.identity.roles.includes('super_admin') || key.user_id === caller.user_id) return;
  throw forbidden('Only a super admin may do this with the key of another account.');
}

async function mintKey(
  tx: Transaction,
  deps: BillingDeps,
  caller: KeyCaller,
  rights: Pick<ApiKey, 'name' | 'type' | 'roles' | 'permissions' | 'user_id' | 'expires_at'>,
): Promise<MadeKey> {
  const [environment] = await tx<{ type: string }[]>`
    select type from environments where id = ${caller.scope.environment_id}`;
  const kind = rights.type === 'publishable_key' ? 'pk' : 'sk';
  const stage = environment?.type === 'production' ? 'live' : 'test';
  const api_key = `${kind}_${stage}_${randomBytes(32).toString('base64url')}`;
  const { name, type, roles, permissions, user_id, expires_at } = rights;
  const secret = await insertApiKey(tx, {
    ...newRecord(deps, caller, 'secret'),
    ...{ name, type, roles, permissions, user_id, expires_at },
    key_hash: createHash('sha256').update(api_key).digest(),
    display_id: `${api_key.slice(0, 11)}***${api_key.slice(-2)}`,
  });
  return { secret, api_key };
}

/** 403 unless the caller holds whatever the key will allow: a narrow key makes no wide one. */
function assertHeld(
  identity: Identity,
  { roles, permissions }: Pick<ApiKey, 'roles' | 'permissions'>,
): void {
  const granted = permissions.length > 0 ? permissions : permissionsOf(roles);
  const isHeld = granted.every((permission) =>
    allows(identity.permissions, permission as Permission),
  );
  if (!isHeld) throw forbidden('Nobody grants more than they hold.');
}

function assertWithin(wanted: readonly string[], held: readonly string[]): void {
  for (const [index, permission] of wanted.entries())
    if (!allows(held, permission as Permission))
      throw invalidField(`permissions[${index}]`, 'is more than the owner holds');
}
