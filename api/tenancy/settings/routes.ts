import { BillingError, invalidField, notFound } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Identity } from '../../../platform/identity/identity.ts';
import { parse, unknownFields } from '../../../platform/http/parse.ts';
import { assertAllowed, assertRecentLogin } from '../../../platform/http/admit.ts';
import type { Transaction } from '../../../postgres/client.ts';
import {
  deleteSetting,
  findSetting,
  lockSettings,
  settingScope,
  storeSetting,
  type SettingRow,
} from '../../../postgres/tables/settings.ts';
import { Message } from '../../../schemas/primitives.ts';
import {
  isReadBySuperAdmins,
  isSettingKey,
  Setting,
  SettingParams,
  SETTINGS,
  takesNull,
  UpdateSettingBody,
  type SettingKey,
} from '../../../schemas/settings/settings.ts';
import { below } from '../../conventions/bulk-error.ts';
import type { BillingDeps } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { route } from '../../conventions/route.ts';
import { assertTenantLimits } from '../tenants/limits.ts';
import { assertCustomCurrencies } from './custom-currencies.ts';
import { operatorsDefaults, settingAnswer } from './setting-answer.ts';

function settingKey(key: string): SettingKey {
  if (isSettingKey(key)) return key;
  throw invalidField(
    'key',
    `"${key}" is not a setting; one of: ${Object.keys(SETTINGS).join(', ')}`,
  );
}

/**
 * The sent value must be valid on its own. Its keys replace the stored ones, null restores a default, and the
 * merged value is validated again.
 */
async function save(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  key: SettingKey,
  sent: Record<string, unknown>,
): Promise<SettingRow> {
  const isCleared = (field: string): boolean => sent[field] === null && !takesNull(key, field);
  const kept = (value: object): Record<string, unknown> =>
    Object.fromEntries(Object.entries(value).filter(([field]) => !isCleared(field)));
  const value = parseValue(key, kept(sent));
  if (key === 'tenant_config') assertTenantLimits(sent, deps.settings);
  const record = newRecord(deps, caller, 'setting');
  const at = settingScope(caller.scope, key);
  await lockSettings(tx, at);
  const stored = await findSetting(tx, caller.scope, key);
  const merged = kept({ ...stored?.value, ...value });
  parseValue(key, merged);
  if (key === 'custom_currency_config')
    await assertCustomCurrencies(tx, caller.scope, stored?.value ?? {}, merged, record.updated_at);
  return storeSetting(tx, { ...record, ...at, key, value: merged });
}

/**
 * Single sign-on gives access to every environment. So only a person with access to all environments
 * configures it, in a session: a key of one environment, or a person of some, would gain access to the
 * others.
 */
function assertMayChange(identity: Identity, key: string): void {
  if (key !== 'saml_config') return;
  if (identity.kind === 'person' && identity.environment_ids === null)
    return assertRecentLogin(identity);
  throw new BillingError(
    'forbidden',
    'permission_denied',
    'Only a logged-in person with access to all environments may configure single sign-on.',
  );
}

function parseValue(key: SettingKey, sent: Record<string, unknown>): object {
  try {
    return parse(SETTINGS[key].schema, sent, 'body');
  } catch (error) {
    throw below(error, 'value');
  }
}

export const settingRoutes = [
  route({
    method: 'GET',
    path: '/settings/{key}',
    summary: 'Get a setting: the stored value, or the default',
    permission: 'setting:read',
    params: SettingParams,
    status: 200,
    answer: Setting,
    async handler(call) {
      const key = settingKey(call.params.key);
      if (isReadBySuperAdmins(key))
        assertAllowed({ permission: 'setting:read', humanSuperAdminOnly: true }, call.identity);
      const { deps, scope } = call;
      const row = await findSetting(deps.pool, scope, key);
      return settingAnswer(scope, key, row, operatorsDefaults(key, deps.settings));
    },
  }),
  route({
    method: 'PUT',
    path: '/settings/{key}',
    summary: 'Change a setting',
    permission: 'setting:write',
    humanSuperAdminOnly: true,
    params: SettingParams,
    body: UpdateSettingBody,
    status: 200,
    answer: Setting,
    async handler(call) {
      const key = settingKey(call.params.key);
      assertMayChange(call.identity, key);
      const unknown = unknownFields(SETTINGS[key].schema, call.body.value);
      call.ignore(unknown.map((path) => `value.${path}`));
      const row = await call.deps.pool.begin((tx) =>
        save(tx, call.deps, call, key, call.body.value),
      );
      return settingAnswer(call.scope, key, row, operatorsDefaults(key, call.deps.settings));
    },
  }),
  route({
    method: 'DELETE',
    path: '/settings/{key}',
    summary: 'Reset a setting to its default',
    permission: 'setting:write',
    humanSuperAdminOnly: true,
    params: SettingParams,
    status: 200,
    answer: Message,
    async handler({ deps, scope, params, identity }) {
      assertMayChange(identity, params.key);
      const at = isSettingKey(params.key) ? settingScope(scope, params.key) : scope;
      await deps.pool.begin(async (tx) => {
        const deleted = await deleteSetting(tx, at, params.key);
        if (deleted === null) throw notFound('Setting', params.key);
        if (params.key === 'custom_currency_config')
          await assertCustomCurrencies(tx, scope, deleted, {}, isoTime(deps.clock.now()));
      });
      return { message: 'Setting deleted successfully' };
    },
  }),
];
