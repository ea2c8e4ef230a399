import type { Scope } from '../../../postgres/client.ts';
import { settingScope, type SettingRow } from '../../../postgres/tables/settings.ts';
import type { BillingSettings } from '../../deps.ts';
import { SETTINGS, type Setting, type SettingKey } from '../../../schemas/settings/settings.ts';

/**
 * The stored value merged over the default; without a row the default, with empty ids (api 37).
 * `operators` are the defaults of `operatorsDefaults`; they replace those of the product.
 */
export function settingAnswer(
  scope: Scope,
  key: SettingKey,
  row: SettingRow | null,
  operators: object = {},
): Setting {
  const value = { ...SETTINGS[key].default, ...operators, ...row?.value };
  if (row !== null) return { ...row, value };
  const nothing = { id: '', status: '', created_at: null, updated_at: null };
  return { ...nothing, key, value, ...settingScope(scope, key), created_by: '', updated_by: '' };
}

/** Defaults of a setting that the operator sets for the installation: the delay of finalization (billing 17.4). */
export const operatorsDefaults = (
  key: SettingKey,
  { grace_seconds }: Pick<BillingSettings, 'grace_seconds'>,
): object => (key === 'invoice_config' ? { finalization_delay_seconds: grace_seconds } : {});
