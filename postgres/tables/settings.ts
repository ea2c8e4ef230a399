import { SETTINGS, type SettingKey, type SettingValue } from '../../schemas/settings/settings.ts';
import type { Db, Scope } from '../client.ts';

/** A stored setting. `environment_id` is empty for a setting of the tenant. */
export interface SettingRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly key: SettingKey;
  readonly value: Record<string, unknown>;
  readonly status: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly created_by: string;
  readonly updated_by: string;
}

/** The scope of a setting's row. */
export const settingScope = (scope: Scope, key: SettingKey): Scope => ({
  tenant_id: scope.tenant_id,
  environment_id: SETTINGS[key].scope === 'tenant' ? '' : scope.environment_id,
});

/** The row, or null if nothing is stored and the default applies. */
export async function findSetting(
  db: Db,
  scope: Scope,
  key: SettingKey,
): Promise<SettingRow | null> {
  const at = settingScope(scope, key);
  const [row] = await db<SettingRow[]>`
    select id, tenant_id, environment_id, key, value, status,
           created_at, updated_at, created_by, updated_by
      from settings
     where tenant_id = ${at.tenant_id} and environment_id = ${at.environment_id} and key = ${key}`;
  return row ?? null;
}

/** The effective setting: stored keys, and the default for every other key. */
export async function readSetting<Key extends SettingKey>(
  db: Db,
  scope: Scope,
  key: Key,
): Promise<SettingValue<Key>> {
  const row = await findSetting(db, scope, key);
  return { ...SETTINGS[key].default, ...row?.value } as unknown as SettingValue<Key>;
}
