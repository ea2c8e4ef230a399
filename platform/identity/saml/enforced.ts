import type { Db } from '../../../postgres/client.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import type { SettingValue } from '../../../schemas/settings/settings.ts';

export type SamlConfig = SettingValue<'saml_config'>;

export const readSamlConfig = (db: Db, tenant_id: string): Promise<SamlConfig> =>
  readSetting(db, { tenant_id, environment_id: '' }, 'saml_config');

/** Whether people can log in with it: it is enabled and its identity provider is configured. */
export const isServing = (config: SamlConfig): boolean =>
  config.enabled &&
  config.idp_entity_id !== '' &&
  config.idp_sso_url !== '' &&
  config.idp_certificate !== '';

/**
 * Whether the tenant refuses this person's password: super admins may always use theirs (tenancy
 * 14.5.7).
 */
export async function isPasswordRefused(
  db: Db,
  person: { readonly tenant_id: string; readonly roles: readonly string[] },
): Promise<boolean> {
  if (person.roles.includes('super_admin')) return false;
  const config = await readSamlConfig(db, person.tenant_id);
  return isServing(config) && config.enforce_sso;
}
