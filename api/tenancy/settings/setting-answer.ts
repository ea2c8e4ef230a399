import type { Scope } from '../../../postgres/client.ts';
import { settingScope, type SettingRow } from '../../../postgres/tables/settings.ts';
import { SETTINGS, type Setting, type SettingKey } from '../../../schemas/settings/settings.ts';

/** The stored value merged over the default; without a row the default, without an id. */
export function settingAnswer(scope: Scope, key: SettingKey, row: SettingRow | null): Setting {
  const value = { ...SETTINGS[key].default, ...row?.value };
  if (row !== null) return { ...row, value, environment_id: row.environment_id || null };
  const nothing = { id: '', status: '', created_at: null, updated_at: null, created_by: null };
  const { tenant_id, environment_id } = settingScope(scope, key);
  return {
    ...nothing,
    key,
    value,
    tenant_id,
    environment_id: environment_id || null,
    updated_by: null,
  };
}
