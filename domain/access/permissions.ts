import { invalidField } from '../errors.ts';

/**
 * What a caller may do: `<entity>:<action>`, for example `plan:write`. `*` means every entity.
 * The entity is the noun of the resource. GET, searches and previews are `read`; everything else is
 * `write` (tenancy 14.3).
 */
export type Permission = `${string}:${Action}`;
export type Action = 'read' | 'write';
const ALL_ACTIONS: readonly Action[] = ['read', 'write'];

/** Users and service accounts have separate catalogs; `super_admin` is in both. */
export const USER_ROLES = ['super_admin', 'all_reader', 'all_writer'] as const;
export const SERVICE_ACCOUNT_ROLES = ['super_admin', 'event_ingestor', 'event_reader'] as const;
export type RoleId = (typeof USER_ROLES)[number] | (typeof SERVICE_ACCOUNT_ROLES)[number];
export type UserType = 'user' | 'service_account';

export interface Role {
  readonly id: RoleId;
  readonly name: string;
  readonly description: string;
  /** Entity → actions; `*` means every action. */
  readonly permissions: Readonly<Record<string, readonly (Action | '*')[]>>;
  /** Permissions that must be held by name and that this role includes. */
  readonly byName?: readonly Permission[];
}

/** Entities that `*` does not include: a key for everything must not show what all users did. */
const BY_NAME_ONLY: readonly string[] = ['audit_log'];

export const ROLES: readonly Role[] = [
  {
    id: 'all_reader',
    name: 'All Reader',
    description: 'Reads everything and changes nothing.',
    permissions: { '*': ['read'] },
    byName: ['audit_log:read'],
  },
  {
    id: 'all_writer',
    name: 'All Writer',
    description:
      'Reads and writes everything but the audit log, and does not invite people or administer roles and settings.',
    permissions: { '*': ['read', 'write'] },
  },
  {
    id: 'event_ingestor',
    name: 'Event Ingestor',
    description: 'Sends events and nothing else.',
    permissions: { event: ['write'] },
  },
  {
    id: 'event_reader',
    name: 'Event Reader',
    description: 'Reads events and nothing else.',
    permissions: { event: ['read'] },
  },
  {
    id: 'super_admin',
    name: 'Super Admin',
    description: 'May do everything.',
    permissions: { '*': ['*'] },
    byName: ['audit_log:read'],
  },
];

const CATALOG: Readonly<Record<UserType, readonly string[]>> = {
  user: USER_ROLES,
  service_account: SERVICE_ACCOUNT_ROLES,
};

/** The roles that an account of the type may have; all of them without a type. */
export function rolesOf(type: UserType | null): readonly Role[] {
  return type === null ? ROLES : ROLES.filter((role) => CATALOG[type].includes(role.id));
}

/** The union of the permissions of the roles; an unknown role allows nothing. */
export function permissionsOf(roles: readonly string[]): Permission[] {
  const held = ROLES.filter((role) => roles.includes(role.id));
  return [
    ...new Set(
      held.flatMap((role) => [
        ...Object.entries(role.permissions).flatMap(([entity, actions]) =>
          actions
            .flatMap((action) => (action === '*' ? ALL_ACTIONS : [action]))
            .map((action): Permission => `${entity}:${action}`),
        ),
        ...(role.byName ?? []),
      ]),
    ),
  ];
}

/**
 * What a key may do: its scopes as far as its roles allow, or everything that its roles allow. A
 * publishable key is used in browsers and may only send events, if its owner may.
 */
export function permissionsOfKey(key: {
  readonly type: string;
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
}): Permission[] {
  const held = permissionsOf(key.roles);
  if (key.type === 'publishable_key') return allows(held, 'event:write') ? ['event:write'] : [];
  if (key.permissions.length === 0) return held;
  return (key.permissions as Permission[]).filter((permission) => allows(held, permission));
}

/**
 * Deny by default: true only when the entity's permission, or the one for every entity, is held. The
 * audit log needs its own permission, held by name.
 */
export function allows(held: readonly string[], wanted: Permission): boolean {
  const [entity, action] = wanted.split(':') as [string, string];
  return held.includes(wanted) || (!BY_NAME_ONLY.includes(entity) && held.includes(`*:${action}`));
}

/**
 * Refuses unknown roles, roles of the other catalog, an empty list, and `super_admin` combined with another
 * role.
 */
export function assertRoles(type: UserType, roles: readonly string[]): void {
  if (roles.length === 0) throw invalidField('roles', 'needs at least one role');
  for (const [index, role] of roles.entries()) {
    if (!CATALOG[type].includes(role))
      throw invalidField(
        `roles[${index}]`,
        `"${role}" is not a role of a ${type}; one of: ${CATALOG[type].join(', ')}`,
      );
  }
  if (roles.includes('super_admin') && roles.length > 1)
    throw invalidField('roles', 'super_admin stands alone');
}

/**
 * A caller cannot grant more than it holds; only a super admin grants `super_admin` (tenancy 14.2.2).
 * The credential decides what is held: a key that is narrower than its owner's roles grants no more than
 * its own permissions.
 */
export function mayGrant(
  granting: { readonly roles: readonly string[]; readonly permissions: readonly string[] },
  granted: readonly string[],
): boolean {
  if (granted.includes('super_admin') && !granting.roles.includes('super_admin')) return false;
  return permissionsOf(granted).every((permission) => allows(granting.permissions, permission));
}
