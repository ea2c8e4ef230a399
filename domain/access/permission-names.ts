import { invalidField } from '../errors.ts';
import { nearMiss } from '../near-miss.ts';

/** The nouns that route permissions begin with. */
export const ENTITIES = [
  'addon',
  'alert_settings',
  'audit_log',
  'checkoutsession',
  'connection',
  'correction',
  'costsheet',
  'coupon',
  'creditgrant',
  'creditnote',
  'customer',
  'doctor',
  'entitlement',
  'environment',
  'erasure',
  'event',
  'feature',
  'group',
  'integration',
  'invoice',
  'meter',
  'payment',
  'plan',
  'price',
  'refund',
  'request_log',
  'saved_view',
  'secret',
  'setting',
  'subscription',
  'task',
  'tax',
  'tenant',
  'testclock',
  'user',
  'wallet',
  'webhook',
  'workflow',
] as const;

/** Refuses a misspelled entity: its permission would be stored and allow nothing. */
export function assertPermissionNames(permissions: readonly string[]): void {
  const names = ENTITIES.flatMap((entity) => [`${entity}:read`, `${entity}:write`]);
  for (const [index, permission] of permissions.entries()) {
    const meant = nearMiss(permission, names);
    if (meant !== null)
      throw invalidField(
        `permissions[${index}]`,
        `"${permission}" is not a permission; did you mean "${meant}"?`,
      );
  }
}
