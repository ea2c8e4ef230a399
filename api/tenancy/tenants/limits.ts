import { invalidField } from '../../../domain/errors.ts';
import type { Db } from '../../../postgres/client.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import type { TenantLimits } from '../../../schemas/settings/tenancy.ts';
import type { BillingSettings } from '../../deps.ts';

type Cap = Pick<BillingSettings, 'tenant_limits_max'>;

/** The tenant's own limits, capped by the operator's: a lowered cap applies at once. */
export async function tenantLimits(
  db: Db,
  tenant_id: string,
  { tenant_limits_max: max }: Cap,
): Promise<TenantLimits> {
  const set = await readSetting(db, { tenant_id, environment_id: '' }, 'tenant_config');
  return {
    production: Math.min(set.production, max.production),
    development: Math.min(set.development, max.development),
    max_users: Math.min(set.max_users, max.max_users),
  };
}

/** Refuses a sent value above the operator's limit, with the field's name. */
export function assertTenantLimits(
  sent: Readonly<Record<string, unknown>>,
  { tenant_limits_max: max }: Cap,
): void {
  for (const [field, cap] of Object.entries(max)) {
    const value = sent[field];
    if (typeof value === 'number' && value > cap)
      throw invalidField(
        `value.${field}`,
        `must be at most ${cap}, which the operator of this installation has set`,
      );
  }
}
