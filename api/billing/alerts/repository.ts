import { alreadyExists } from '../../../domain/errors.ts';
import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import { columnList } from '../../../postgres/parameters.ts';
import { filterConditions, findPage } from '../../../postgres/search.ts';
import { tableOf } from '../../../postgres/table.ts';
import type { AlertLog, AlertSetting } from '../../../schemas/alert.ts';
import type { Feature } from '../../../schemas/feature.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import type { Wallet } from '../../../schemas/wallet.ts';
import { walletAnswer } from '../credits/wallet-answers.ts';
import { findWallets } from '../credits/wallet-repository.ts';
import { findCustomers } from '../../customers/customers/repository.ts';
import { findFeatures, withEmbedded } from '../../catalog/features/repository.ts';
import { SUBSCRIPTION_COLUMNS, type SubscriptionRow } from '../../../schemas/subscription.ts';
import { isGranting } from '../../catalog/entitlements/entitlement-sources.ts';

const settings = tableOf<AlertSetting, Omit<AlertSetting, 'alert_state'>>({
  name: 'alert_settings',
  noun: 'Alert setting',
  columns: (db) => db`
  id, tenant_id, environment_id, entity_type, entity_id, parent_entity_type, parent_entity_id,
  enabled, config, status, created_at, updated_at, created_by, updated_by, ${stateNow(db)} as alert_state`,
  json: ['config'],
  only: 'published',
  taken: {
    alert_settings_entity_key: (setting) =>
      alreadyExists('alert setting', 'entity_id', setting.entity_id!),
  },
});

/** The newest state of the setting's entity in the running period of its subscription. */
function stateNow(db: Db): Fragment {
  return db`coalesce((
    select l.alert_status from alert_logs l
      join subscriptions s
        on s.id = coalesce(alert_settings.parent_entity_id, alert_settings.entity_id)
       and s.tenant_id = alert_settings.tenant_id and s.environment_id = alert_settings.environment_id
     where l.tenant_id = alert_settings.tenant_id and l.environment_id = alert_settings.environment_id
       and l.entity_id = alert_settings.entity_id and l.entity_type = alert_settings.entity_type
       and l.parent_entity_id is not distinct from alert_settings.parent_entity_id
       and l.period_start = s.current_period_start
     order by l.created_at desc, l.id desc limit 1), 'ok')`;
}

/** The published setting. 404 if it is unknown or belongs to another scope. */
export const getAlertSetting = settings.get;

/** 409 if the entity (with that parent) already has a published setting. */
export const insertAlertSetting = settings.insert;

/** Changes the given columns of a published setting. 404 as for `getAlertSetting`. */
export const updateAlertSettingRow = settings.change;

export interface AlertSettingFilter {
  readonly entity_type?: string | null;
  readonly entity_id?: string | null;
  readonly entity_ids?: string[] | null;
  readonly parent_entity_type?: string | null;
  readonly parent_entity_id?: string | null;
  readonly parent_entity_ids?: string[] | null;
  readonly enabled?: boolean | null;
  readonly search: Search;
}

/** Leaves out deleted settings unless a status is requested. */
export function searchAlertSettings(
  db: Db,
  scope: Scope,
  filter: AlertSettingFilter,
): Promise<Page<AlertSetting>> {
  const { search, entity_ids, parent_entity_ids } = filter;
  return findPage<AlertSetting>(db, {
    columns: settings.columns(db),
    from: db`alert_settings`,
    where: db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
      ${filterConditions(db, filter, [
        'entity_type',
        'entity_id',
        'parent_entity_type',
        'parent_entity_id',
      ])}
      ${filterConditions(db, { entity_id: entity_ids }, ['entity_id'])}
      ${filterConditions(db, { parent_entity_id: parent_entity_ids }, ['parent_entity_id'])}
      ${filter.enabled == null ? db`` : db`and enabled = ${filter.enabled}`}`,
    search,
  });
}

export interface AlertLogFilter {
  readonly entity_type?: string | null;
  readonly entity_id?: string | null;
  readonly customer_id?: string | null;
  readonly alert_type?: string | null;
  readonly alert_status?: string | null;
  readonly search: Search;
}

type AlertLogRow = Omit<AlertLog, 'customer' | 'feature' | 'wallet'>;

/** Alerts raised and recovered, newest first. */
export async function searchAlertLogs(
  db: Db,
  scope: Scope,
  filter: AlertLogFilter,
): Promise<Page<AlertLog>> {
  const { search } = filter;
  const page = await findPage<AlertLogRow>(db, {
    columns: db`
      id, tenant_id, environment_id, entity_type, entity_id, parent_entity_type, parent_entity_id,
      customer_id, period_start, alert_type, alert_status, alert_info, status,
      created_at, updated_at, created_by, updated_by`,
    from: db`alert_logs`,
    where: db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
      ${filterConditions(db, filter, [
        'entity_type',
        'entity_id',
        'customer_id',
        'alert_type',
        'alert_status',
      ])}`,
    search,
  });
  const { items } = page;
  const [customers, features, wallets] = await Promise.all([
    findCustomers(db, scope, search.expand.has('customer') ? customerIdsOf(items) : []),
    featuresOf(db, scope, search.expand.has('feature') ? items : []),
    walletsOf(db, scope, search.expand.has('wallet') ? items : []),
  ]);
  return {
    ...page,
    items: items.map((row) => ({
      ...row,
      alert_info: withThresholdTexts(row.alert_info),
      customer: customers.find(({ id }) => id === row.customer_id) ?? null,
      feature: features.find(({ id }) => id === row.entity_id) ?? null,
      wallet: wallets.find(({ id }) => id === walletIdOf(row)) ?? null,
    })),
  };
}

/** The levels of features and spend are numbers in their settings, and decimal text in the log, as wallets' are. */
function withThresholdTexts(info: AlertLog['alert_info']): AlertLog['alert_info'] {
  const textOf = (level: unknown): unknown =>
    typeof level === 'object' && level !== null && 'threshold' in level
      ? { ...level, threshold: String(level.threshold) }
      : level;
  const settings = Object.entries(info.alert_settings ?? {});
  return {
    ...info,
    alert_settings:
      info.alert_settings &&
      Object.fromEntries(settings.map(([name, level]) => [name, textOf(level)])),
  };
}

const customerIdsOf = (rows: readonly AlertLogRow[]): string[] => [
  ...new Set(rows.flatMap(({ customer_id }) => customer_id ?? [])),
];

async function featuresOf(db: Db, scope: Scope, rows: readonly AlertLogRow[]): Promise<Feature[]> {
  const ids = rows.flatMap((row) => (row.entity_type === 'feature' ? row.entity_id : []));
  const features = await findFeatures(db, scope, [...new Set(ids)]);
  return await withEmbedded(db, scope, features, { meter: false });
}

/** The wallet that the alert is about, or that its feature watches. */
const walletIdOf = (row: AlertLogRow): string | null =>
  row.entity_type === 'wallet'
    ? row.entity_id
    : row.parent_entity_type === 'wallet'
      ? row.parent_entity_id
      : null;

async function walletsOf(db: Db, scope: Scope, rows: readonly AlertLogRow[]): Promise<Wallet[]> {
  const ids = rows.flatMap((row) => walletIdOf(row) ?? []);
  const found = await findWallets(db, scope, [...new Set(ids)]);
  return found.map((wallet) => walletAnswer(wallet));
}

/** Settings of these subscriptions, of their line items and of groups on them. */
export async function settingsOfSubscriptions(
  db: Db,
  scope: Scope,
  subscriptionIds: readonly string[],
): Promise<AlertSetting[]> {
  if (subscriptionIds.length === 0) return [];
  const ids = [...subscriptionIds];
  return await db<AlertSetting[]>`
    select ${settings.columns(db)} from alert_settings
     where ${inScope(db, scope)} and status = 'published'
       and (parent_entity_id = any(${ids}) or (entity_type = 'subscription' and entity_id = any(${ids})))
     order by id`;
}

/** Running subscriptions of the customers that grant entitlements at `at`, oldest first. */
export async function grantingSubscriptions(
  db: Db,
  scope: Scope,
  customerIds: readonly string[],
  at: string,
): Promise<SubscriptionRow[]> {
  const rows = await db<SubscriptionRow[]>`
    select ${columnList(db, SUBSCRIPTION_COLUMNS)} from subscriptions
     where ${inScope(db, scope)} and customer_id = any(${[...customerIds]}) and status = 'published'
       and subscription_status in ('active', 'trialing')
     order by created_at, id`;
  return rows.filter((row) => isGranting(row, at));
}
