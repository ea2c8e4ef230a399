import { SETTINGS, type SettingKey, type SettingValue } from '../../schemas/settings/settings.ts';
import type { Db, Scope, Transaction } from '../client.ts';
import { jsonOf } from '../parameters.ts';

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

/** Changes of settings of one tenant wait for each other until the transaction ends. */
export async function lockSettings(tx: Transaction, { tenant_id }: Scope): Promise<void> {
  await tx`select 1 from tenants where id = ${tenant_id} for update`;
}

/** Inserts the row, or replaces value, time and user of the row with this key. Returns it as stored. */
export async function storeSetting(tx: Transaction, row: SettingRow): Promise<SettingRow> {
  const [stored] = await tx<SettingRow[]>`
    insert into settings ${tx({ ...row, value: jsonOf(tx, row.value) })}
    on conflict on constraint settings_key_key do update
       set value = excluded.value,
           updated_at = ${row.updated_at}, updated_by = ${row.updated_by}
    returning id, tenant_id, environment_id, key, value, status,
              created_at, updated_at, created_by, updated_by`;
  return stored!;
}

/** The value of the deleted row; null if nothing was stored. `at` is the scope of the row (`settingScope`). */
export async function deleteSetting(
  tx: Transaction,
  at: Scope,
  key: string,
): Promise<SettingRow['value'] | null> {
  const [deleted] = await tx<Pick<SettingRow, 'value'>[]>`
    delete from settings
     where tenant_id = ${at.tenant_id} and environment_id = ${at.environment_id} and key = ${key}
    returning value`;
  return deleted?.value ?? null;
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
