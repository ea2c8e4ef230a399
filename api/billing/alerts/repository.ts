import { alreadyExists, notFound } from '../../../domain/errors.ts';
import {
  inScope,
  violatedConstraint,
  type Db,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import type { AlertLog, AlertSetting } from '../../../schemas/alert.ts';
import type { Feature } from '../../../schemas/feature.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import { findCustomers } from '../../customers/customers/repository.ts';
import { findFeatures, withEmbedded } from '../../catalog/features/repository.ts';

const columns = (db: Db) => db`
  id, tenant_id, environment_id, entity_type, entity_id, parent_entity_type, parent_entity_id,
  enabled, config, status, created_at, updated_at, created_by, updated_by`;

/** The published setting. 404 if it does not exist, is deleted or belongs to another scope. */
export async function getAlertSetting(db: Db, scope: Scope, id: string): Promise<AlertSetting> {
  const [row] = await db<AlertSetting[]>`
    select ${columns(db)} from alert_settings
     where ${inScope(db, scope)} and id = ${id} and status = 'published'`;
  if (row === undefined) throw notFound('Alert setting', id);
  return row;
}

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
    columns: columns(db),
    from: db`alert_settings`,
    where: db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
      ${filter.entity_type ? db`and entity_type = ${filter.entity_type}` : db``}
      ${filter.entity_id ? db`and entity_id = ${filter.entity_id}` : db``}
      ${entity_ids?.length ? db`and entity_id = any(${entity_ids})` : db``}
      ${filter.parent_entity_type ? db`and parent_entity_type = ${filter.parent_entity_type}` : db``}
      ${filter.parent_entity_id ? db`and parent_entity_id = ${filter.parent_entity_id}` : db``}
      ${parent_entity_ids?.length ? db`and parent_entity_id = any(${parent_entity_ids})` : db``}
      ${filter.enabled == null ? db`` : db`and enabled = ${filter.enabled}`}`,
    search,
  });
}

/** 409 if the entity (with that parent) already has a published setting. */
export async function insertAlertSetting(
  tx: Transaction,
  setting: AlertSetting,
): Promise<AlertSetting> {
  try {
    await tx`insert into alert_settings ${tx({ ...setting, config: tx.json(setting.config) })}`;
    return setting;
  } catch (error) {
    throw violatedConstraint(error) === 'alert_settings_entity_key'
      ? alreadyExists('alert setting', 'entity_id', setting.entity_id)
      : error;
  }
}

export async function updateAlertSettingRow(
  tx: Transaction,
  scope: Scope,
  id: string,
  changes: Partial<
    Pick<AlertSetting, 'config' | 'enabled' | 'status' | 'updated_at' | 'updated_by'>
  >,
): Promise<AlertSetting> {
  const { config, ...rest } = changes;
  const values = config === undefined ? rest : { ...rest, config: tx.json(config) };
  const [row] = await tx<AlertSetting[]>`
    update alert_settings set ${tx(values)}
     where ${inScope(tx, scope)} and id = ${id} and status = 'published'
    returning ${columns(tx)}`;
  if (row === undefined) throw notFound('Alert setting', id);
  return row;
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
      customer_id, alert_type, alert_status, alert_info, status,
      created_at, updated_at, created_by, updated_by`,
    from: db`alert_logs`,
    where: db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
      ${filter.entity_type ? db`and entity_type = ${filter.entity_type}` : db``}
      ${filter.entity_id ? db`and entity_id = ${filter.entity_id}` : db``}
      ${filter.customer_id ? db`and customer_id = ${filter.customer_id}` : db``}
      ${filter.alert_type ? db`and alert_type = ${filter.alert_type}` : db``}
      ${filter.alert_status ? db`and alert_status = ${filter.alert_status}` : db``}`,
    search,
  });
  const { items } = page;
  const [customers, features] = await Promise.all([
    findCustomers(db, scope, search.expand.has('customer') ? customerIdsOf(items) : []),
    featuresOf(db, scope, search.expand.has('feature') ? items : []),
  ]);
  return {
    ...page,
    items: items.map((row) => ({
      ...row,
      customer: customers.find(({ id }) => id === row.customer_id) ?? null,
      feature: features.find(({ id }) => id === row.entity_id) ?? null,
      wallet: null,
    })),
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
