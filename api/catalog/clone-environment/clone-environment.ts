import { invalidField, invalidOperation } from '../../../domain/errors.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import type { CloneEnvironmentBody } from '../../../schemas/environment.ts';
import type { Meter } from '../../../schemas/meter.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { IdPrefix } from '../../../platform/ids.ts';
import type { BillingDeps } from '../../deps.ts';
import { findPublishedMeters, insertMeter } from '../meters/repository.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import {
  createEnvironment,
  type HumanCaller,
} from '../../tenancy/environments/create-environment.ts';
import { getEnvironment } from '../../tenancy/environments/repository.ts';
import { findRowsToCopy, hasPublishedRow, insertCopy } from './repository.ts';

/**
 * Copied tables, parents first: references of a copy point at copies. A row that refers to a record outside of
 * the copies is left out.
 */
export const COPIED: readonly { table: string; prefix: IdPrefix; references: readonly string[] }[] = [
  { table: 'groups', prefix: 'group', references: [] },
  { table: 'price_units', prefix: 'price_unit', references: [] },
  { table: 'features', prefix: 'feat', references: ['meter_id', 'group_id'] },
  { table: 'plans', prefix: 'plan', references: [] },
  { table: 'addons', prefix: 'addon', references: [] },
  { table: 'costsheets', prefix: 'cost', references: [] },
  { table: 'prices', prefix: 'price', references: ['entity_id', 'meter_id', 'group_id', 'price_unit_id'] },
  { table: 'entitlements', prefix: 'ent', references: ['entity_id', 'feature_id', 'parent_entitlement_id'] },
  { table: 'credit_grants', prefix: 'cg', references: ['plan_id', 'addon_id', 'addon_association_id', 'subscription_id'] },
  { table: 'coupons', prefix: 'coupon', references: [] },
  { table: 'tax_rates', prefix: 'taxrate', references: [] },
]; // prettier-ignore

/**
 * Copies the published catalog of an environment into a new environment, or into another one of the tenant
 * that has no catalog yet; all or nothing. The caller must have access to both. Customers, subscriptions,
 * keys and settings are not copied. Prices that have ended, and records of single subscriptions, are not part
 * of a catalog. Returns the id of the target environment.
 */
export async function cloneEnvironment(
  tx: Transaction,
  deps: BillingDeps,
  caller: HumanCaller,
  sourceId: string,
  body: CloneEnvironmentBody,
): Promise<string> {
  const { tenant_id } = caller.scope;
  const source = await getEnvironment(tx, caller, sourceId);
  const targetId = await targetOf(tx, deps, caller, body);
  if (targetId === source.id)
    throw invalidField('target_environment_id', 'is the environment itself');
  const from: Scope = { tenant_id, environment_id: source.id };
  const to: Caller = { scope: { tenant_id, environment_id: targetId }, user_id: caller.user_id };
  await assertEmpty(tx, to.scope);

  const copies = new Map<string, string>();
  await copyMeters(tx, deps, from, to, copies);
  for (const kind of COPIED) await copyRows(tx, deps, from, to, kind, copies);
  return targetId;
}

async function targetOf(
  tx: Transaction,
  deps: BillingDeps,
  caller: HumanCaller,
  body: CloneEnvironmentBody,
): Promise<string> {
  if (body.target_environment_id)
    return (await getEnvironment(tx, caller, body.target_environment_id)).id;
  if (!body.name) throw invalidField('name', 'give a name and a type, or target_environment_id');
  if (!body.type) throw invalidField('type', 'is required beside name');
  return (await createEnvironment(tx, deps, caller, { name: body.name, type: body.type })).id;
}

/** The keys of two catalogs in one environment would collide. */
async function assertEmpty(tx: Transaction, scope: Scope): Promise<void> {
  for (const table of ['meters', ...COPIED.map((kind) => kind.table)]) {
    if (await hasPublishedRow(tx, scope, table))
      throw invalidOperation(`The target environment has ${table} already.`);
  }
}

/** Meters are inserted through the repository, which creates their versions. */
async function copyMeters(
  tx: Transaction,
  deps: BillingDeps,
  from: Scope,
  to: Caller,
  copies: Map<string, string>,
): Promise<void> {
  const meters = await findPublishedMeters(tx, from);
  for (const { filtered_properties, ...meter } of meters) {
    const copy: Meter = { ...meter, ...newRecord(deps, to, 'meter') };
    await insertMeter(tx, deps, copy, filtered_properties);
    copies.set(meter.id, copy.id);
  }
}

async function copyRows(
  tx: Transaction,
  deps: BillingDeps,
  from: Scope,
  to: Caller,
  kind: (typeof COPIED)[number],
  copies: Map<string, string>,
): Promise<void> {
  const now = isoTime(deps.clock.now());
  const rows = await findRowsToCopy(tx, from, kind.table, now);
  for (const row of rows) {
    const pointsOutside = kind.references.some(
      (column) => row[column] != null && !copies.has(row[column] as string),
    );
    if (pointsOutside) continue;
    const record = newRecord(deps, to, kind.prefix);
    copies.set(row['id'] as string, record.id);
    await insertCopy(tx, kind.table, copyOf(row, kind.references, copies, record));
  }
}

function copyOf(
  row: Record<string, unknown>,
  references: readonly string[],
  copies: ReadonlyMap<string, string>,
  record: ReturnType<typeof newRecord>,
): Record<string, unknown> {
  const { sequence: _, ...columns } = row;
  const copied = Object.entries({ ...columns, ...record }).map(([column, value]) => {
    if (references.includes(column)) return [column, copies.get(value as string) ?? null];
    if (column === 'parent_price_id') return [column, record.id];
    if (column === 'total_redemptions') return [column, 0];
    return [column, value];
  });
  return Object.fromEntries(copied) as Record<string, unknown>;
}
