import { createHash, randomBytes } from 'node:crypto';
import {
  allows,
  permissionsOf,
  permissionsOfKey,
  type Permission,
} from '../../../domain/access/permissions.ts';
import { assertPermissionNames } from '../../../domain/access/permission-names.ts';
import { BillingError, invalidField, invalidOperation } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Identity } from '../../../platform/identity/identity.ts';
import type { Transaction } from '../../../postgres/client.ts';
import {
  isConsolePermissions,
  type ApiKey,
  type CreateApiKeyBody,
} from '../../../schemas/tenancy.ts';
import type { BillingDeps } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { forbidden } from '../users/create-user.ts';
import { endKeyAt, endKeys, isMadeBy } from '../users/key-chain-repository.ts';
import { lockUser } from '../users/repository.ts';
import { findEnvironmentType } from '../environments/repository.ts';
import { getApiKey, insertApiKey, lockApiKey, lockMaker } from './repository.ts';

export type KeyCaller = Caller & { readonly identity: Identity };

/** The key and its record. The key itself is not stored. */
export interface MadeKey {
  readonly secret: ApiKey;
  readonly api_key: string;
}

/**
 * Creates a key for the caller or for a service account, with the current roles of its owner. The owner's row
 * is locked, so that no role changes in between (specification, Authentication 6). A key that creates another
 * one must hold its rights and end no earlier (tenancy 52).
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
  if (ownerId !== caller.user_id && !isHumanSuperAdmin(identity))
    throw forbidden('Only a super admin may create keys for another account.');
  const { name, type } = body;
  const permissions = isConsolePermissions(body.permissions ?? []) ? [] : (body.permissions ?? []);
  assertPermissionNames(permissions);
  const rights = { type, roles: owner.roles, permissions };
  assertWithin(rights);
  assertHeld(identity, rights);
  const ends = await makersEnd(tx, deps, caller);
  if (body.expires_at && ends !== null && body.expires_at > ends)
    throw invalidField('expires_at', `must not be after ${ends}, when the key that makes it ends`);
  return await mintKey(tx, deps, caller, {
    name,
    ...rights,
    ...limitsOf(body),
    user_id: ownerId,
    expires_at: body.expires_at ?? ends,
  });
}

/** The new key of a rotation, and the ids of the changed keys, which must be dropped from caches. */
export interface RotatedKey {
  readonly made: MadeKey;
  readonly changed: readonly string[];
}

/**
 * Creates a key with the name, owner and rights of the old one. The old key works for the overlap and then
 * expires, with the keys that it created; without an overlap they end now.
 */
export async function rotateApiKey(
  tx: Transaction,
  deps: BillingDeps,
  caller: KeyCaller,
  id: string,
  overlapSeconds: number,
): Promise<RotatedKey> {
  const { scope, identity } = caller;
  await lockApiKey(tx, scope, id);
  const old = await getApiKey(tx, scope, id);
  assertMayRenew(caller, old);
  assertHeld(identity, old);
  const now = deps.clock.now();
  if (old.status !== 'published' || (old.expires_at !== null && old.expires_at <= isoTime(now)))
    throw invalidOperation('The API key was deleted or has expired.');
  const ends = await makersEnd(tx, deps, caller);
  // Ends the old key's own keys first: the new key may be one of them, and stays.
  const changed =
    overlapSeconds === 0
      ? await endKeys(tx, deps, caller, [id])
      : await endKeyAt(tx, deps, caller, id, now + overlapSeconds * 1000);
  const expires_at = earlier(old.expires_at, ends);
  return { made: await mintKey(tx, deps, caller, { ...old, expires_at }), changed };
}

/**
 * Deletes a key and ends the keys it created. Returns the ids of all, which must be dropped from caches. A
 * key must not delete its creator: it would end itself before it learns the outcome.
 */
export async function deleteApiKey(
  tx: Transaction,
  deps: BillingDeps,
  caller: KeyCaller,
  id: string,
): Promise<string[]> {
  const { identity, scope } = caller;
  assertOwnKey(caller, await getApiKey(tx, scope, id));
  if (identity.key_id !== null && (await isMadeBy(tx, scope.tenant_id, id, identity.key_id)))
    throw invalidOperation(
      'This key made the one that asks, which would end with it. Ask with another key, or let it expire.',
    );
  return await endKeys(tx, deps, caller, [id]);
}

const isHumanSuperAdmin = ({ user_type, roles }: Identity): boolean =>
  user_type === 'user' && roles.includes('super_admin');

/** 403 unless the key belongs to the caller or the caller is super admin. */
export function assertOwnKey(caller: KeyCaller, key: ApiKey): void {
  if (caller.identity.roles.includes('super_admin') || key.user_id === caller.user_id) return;
  throw forbidden('Only a super admin may do this with the key of another account.');
}

/** A user's key is rotated by that user; a service account's key by the key itself or by a super admin. */
function assertMayRenew({ identity, user_id }: KeyCaller, key: ApiKey): void {
  if ((key.user_id ?? '') === user_id) return;
  if (key.user_type === 'service_account' && isHumanSuperAdmin(identity)) return;
  throw forbidden('A key is renewed by its owner, or for a service account by a super admin.');
}

/** End of the calling key; null means never, as for a person in a session. 401 if it has ended. */
async function makersEnd(
  tx: Transaction,
  deps: BillingDeps,
  { identity, scope }: KeyCaller,
): Promise<string | null> {
  if (identity.key_id === null) return null;
  const maker = await lockMaker(tx, scope, identity.key_id, isoTime(deps.clock.now()));
  if (maker === undefined)
    throw new BillingError('unauthenticated', 'unauthenticated', 'The API key has ended.');
  return maker.expires_at;
}

const earlier = (one: string | null, other: string | null): string | null =>
  one === null || (other !== null && other < one) ? other : one;

/** What a publishable key may send; 400 for another key, which has the permissions of its owner. */
function limitsOf(
  body: CreateApiKeyBody,
): Pick<ApiKey, 'allowed_event_names' | 'external_customer_id'> {
  const allowed_event_names = body.allowed_event_names ?? null;
  const external_customer_id = body.external_customer_id || null;
  const limits = { allowed_event_names, external_customer_id };
  if (body.type !== 'publishable_key')
    for (const [field, value] of Object.entries(limits))
      if (value !== null) throw invalidField(field, 'is for publishable keys only');
  return limits;
}

async function mintKey(
  tx: Transaction,
  deps: BillingDeps,
  caller: KeyCaller,
  rights: Omit<NewKey, 'minted_by'>,
): Promise<MadeKey> {
  const environment = await findEnvironmentType(tx, caller.scope);
  const kind = rights.type === 'publishable_key' ? 'pk' : 'sk';
  const stage = environment === 'production' ? 'live' : 'test';
  const api_key = `${kind}_${stage}_${randomBytes(32).toString('base64url')}`;
  const { name, type, roles, permissions, user_id, expires_at } = rights;
  const { allowed_event_names, external_customer_id } = rights;
  const secret = await insertApiKey(tx, {
    ...newRecord(deps, caller, 'secret'),
    ...{ name, type, roles, permissions, user_id, expires_at },
    ...{ allowed_event_names, external_customer_id, minted_by: caller.identity.key_id },
    key_hash: createHash('sha256').update(api_key).digest(),
    display_id: `${api_key.slice(0, 11)}***${api_key.slice(-2)}`,
  });
  return { secret, api_key };
}

type NewKey = Pick<
  ApiKey,
  | 'name'
  | 'type'
  | 'roles'
  | 'permissions'
  | 'allowed_event_names'
  | 'external_customer_id'
  | 'minted_by'
  | 'user_id'
  | 'expires_at'
>;
type Rights = Pick<ApiKey, 'type' | 'roles' | 'permissions'>;

/** 403 unless the caller holds every right of the new key: a key never creates one with more rights. */
function assertHeld(identity: Identity, rights: Rights): void {
  const isHeld = permissionsOfKey(rights).every((permission) =>
    allows(identity.permissions, permission),
  );
  if (!isHeld) throw forbidden('Permissions beyond those of the caller cannot be granted.');
}

/** 400 for rights that the key cannot have: more than its owner holds, or than its type allows. */
function assertWithin({ type, roles, permissions }: Rights): void {
  const held = permissionsOf(roles);
  const isPublishable = type === 'publishable_key';
  if (isPublishable && !allows(held, 'event:write'))
    throw invalidField('type', 'the owner may not send events, which is what the key would do');
  for (const [index, permission] of permissions.entries()) {
    if (isPublishable && permission !== 'event:write')
      throw invalidField(`permissions[${index}]`, 'a publishable key has event:write alone');
    if (!allows(held, permission as Permission))
      throw invalidField(`permissions[${index}]`, 'exceeds the permissions of the owner');
  }
}
