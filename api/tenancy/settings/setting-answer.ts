import type { Scope } from '../../../postgres/client.ts';
import { settingScope, type SettingRow } from '../../../postgres/tables/settings.ts';
import { SETTINGS, type Setting, type SettingKey } from '../../../schemas/settings/settings.ts';

/** The stored value merged over the default; without a row the default, with empty ids (api 37). */
export function settingAnswer(scope: Scope, key: SettingKey, row: SettingRow | null): Setting {
  const value = { ...SETTINGS[key].default, ...row?.value };
  if (row !== null) return { ...row, value };
  const nothing = { id: '', status: '', created_at: null, updated_at: null };
  return { ...nothing, key, value, ...settingScope(scope, key), created_by: '', updated_by: '' };
}
