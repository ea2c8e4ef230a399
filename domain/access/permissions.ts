/**
 * What a caller may do: `<entity>:<action>`, for example `plan:write`. `*` stands for every entity.
 * The entity is the noun of the resource; reads are GET, searches and previews, the rest is a write
 * (money-semantics 14.3).
 */
export type Permission = `${string}:${Action}`;
export type Action = 'read' | 'write';

/** People and service accounts have catalogs of their own; `super_admin` is in both. */
export const USER_ROLES = ['super_admin', 'all_reader', 'all_writer'] as const;
export const SERVICE_ACCOUNT_ROLES = ['super_admin', 'event_ingestor', 'event_reader'] as const;
export type Role = (typeof USER_ROLES)[number] | (typeof SERVICE_ACCOUNT_ROLES)[number];

const PERMISSIONS: Readonly<Record<Role, readonly Permission[]>> = {
  super_admin: ['*:read', '*:write'],
  all_reader: ['*:read'],
  all_writer: ['*:read', '*:write'],
  event_ingestor: ['event:write'],
  event_reader: ['event:read'],
};

/** The union of what the roles allow; an unknown role allows nothing. */
export function permissionsOf(roles: readonly string[]): Permission[] {
  const known = roles.filter((role): role is Role => Object.hasOwn(PERMISSIONS, role));
  return [...new Set(known.flatMap((role) => PERMISSIONS[role]))];
}

/** Deny by default: true only where the entity's permission, or the one for every entity, is held. */
export function allows(held: readonly string[], wanted: Permission): boolean {
  const action = wanted.slice(wanted.indexOf(':') + 1);
  return held.includes(wanted) || held.includes(`*:${action}`);
}
