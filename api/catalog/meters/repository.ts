import { invalidOperation, notFound } from '../../../domain/errors.ts';
import { meterDimensions } from '../../../domain/metering/meter-rules.ts';
import type { MeterSpec } from '../../../domain/metering/usage.ts';
import { inScope, oneOf, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { jsonOf } from '../../../postgres/parameters.ts';
import { createMeterVersion } from '../../../postgres/tables/meter-versions.ts';
import { findPage } from '../../../postgres/search.ts';
import { Meter } from '../../../schemas/meter.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import type { BillingDeps } from '../../deps.ts';
import { picked } from '../../conventions/picked.ts';
import { changed, type Caller } from '../../conventions/record.ts';

/** A meter as stored, with the properties that prices filter on. */
export interface MeterRow extends Meter {
  readonly filtered_properties: readonly string[];
}

/** The meter as answered. */
export const meterAnswer = (row: MeterRow): Meter => picked(Meter.shape, row);

const columns = (db: Db) => db`
  id, tenant_id, environment_id, name, event_name, aggregation, filters, reset_usage, status,
  created_at, updated_at, created_by, updated_by`;

/** The meter, including archived ones. 404 if it does not exist or belongs to another scope. */
export async function getMeter(db: Db, scope: Scope, id: string): Promise<Meter> {
  const [row] = await findMeters(db, scope, [id]);
  if (row === undefined) throw notFound('Meter', id);
  return row;
}

/** The meter with the properties that its prices filter on. 404 as above. */
export async function getMeterRow(db: Db, scope: Scope, id: string): Promise<MeterRow> {
  const [row] = await db<MeterRow[]>`
    select ${columns(db)}, filtered_properties
      from meters where ${inScope(db, scope)} and id = ${id}`;
  if (row === undefined) throw notFound('Meter', id);
  return row;
}

/** Meters of the scope with these ids, unordered. */
export async function findMeters(db: Db, scope: Scope, ids: readonly string[]): Promise<Meter[]> {
  if (ids.length === 0) return [];
  return await db<Meter[]>`
    select ${columns(db)} from meters where ${inScope(db, scope)} and id ${oneOf(db, ids)}`;
}

/** Published meters of the environment with the properties that their prices filter on, oldest first. */
export async function findPublishedMeters(db: Db, scope: Scope): Promise<MeterRow[]> {
  return await db<MeterRow[]>`
    select ${columns(db)}, filtered_properties from meters
     where ${inScope(db, scope)} and status = 'published'
     order by created_at, id`;
}

/** Ids of the published meters of the environment, ascending. */
export async function publishedMeterIds(db: Db, scope: Scope): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id from meters where ${inScope(db, scope)} and status = 'published' order by id`;
  return rows.map(({ id }) => id);
}

/** The meter, locked until the transaction ends: its versions are created one at a time. */
export async function lockMeter(tx: Transaction, scope: Scope, id: string): Promise<MeterRow> {
  const [row] = await tx<MeterRow[]>`
    select ${columns(tx)}, filtered_properties
      from meters
     where ${inScope(tx, scope)} and id = ${id}
       for update`;
  if (row === undefined) throw notFound('Meter', id);
  return row;
}

/** A published price of the meter that has windows; null if there is none. */
export async function findWindowedPrice(
  db: Db,
  scope: Scope,
  meterId: string,
): Promise<{ readonly id: string; readonly bucket_size: string } | null> {
  const [price] = await db<{ id: string; bucket_size: string }[]>`
    select id, bucket_size from prices
     where ${inScope(db, scope)} and meter_id = ${meterId} and status = 'published'
       and bucket_size is not null and bucket_size <> 'none'
     limit 1`;
  return price ?? null;
}

/** Leaves out archived meters unless a status is requested. */
export function searchMeters(
  db: Db,
  scope: Scope,
  filter: { meter_ids?: string[] | null; event_name?: string | null; search: Search },
): Promise<Page<Meter>> {
  const { meter_ids, event_name, search } = filter;
  return findPage<Meter>(db, {
    columns: columns(db),
    from: db`meters`,
    where: db`${inScope(db, scope)}
      ${search.status === null ? db`and status = 'published'` : db`and status = ${search.status}`}
      ${meter_ids?.length ? db`and id = any(${meter_ids})` : db``}
      ${event_name ? db`and event_name = ${event_name}` : db``}`,
    search,
  });
}

/** Writes a new meter and its first version. */
export async function insertMeter(
  tx: Transaction,
  deps: BillingDeps,
  meter: Meter,
  filteredProperties: readonly string[] = [],
): Promise<Meter> {
  await tx`insert into meters ${tx({
    ...meter,
    aggregation: tx.json(meter.aggregation),
    filters: jsonOf(tx, meter.filters),
    filtered_properties: filteredProperties as string[],
  })}`;
  await writeVersion(tx, deps, meter, filteredProperties);
  return meter;
}

/** Changes what the meter counts, or its dimensions, and writes the next version. */
export async function updateMeter(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  meter: MeterRow,
  changes: Partial<MeterRow>,
  effectiveFrom: string | null = null,
): Promise<MeterRow> {
  const next = await updateMeterRow(tx, deps, caller, meter, changes);
  await writeVersion(tx, deps, next, next.filtered_properties, effectiveFrom);
  return next;
}

/** Changes only the meter's row, nothing that belongs to its versions. */
export async function updateMeterRow(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  meter: MeterRow,
  changes: Partial<MeterRow>,
): Promise<MeterRow> {
  const next = { ...meter, ...changes, ...changed(deps, caller) };
  await tx`
    update meters
       set name = ${next.name},
           event_name = ${next.event_name},
           aggregation = ${tx.json(next.aggregation)},
           filters = ${jsonOf(tx, next.filters)},
           reset_usage = ${next.reset_usage},
           filtered_properties = ${next.filtered_properties as string[]},
           updated_at = ${next.updated_at},
           updated_by = ${next.updated_by}
     where ${inScope(tx, caller.scope)} and id = ${meter.id}`;
  return next;
}

/** 400: an archived meter gets no more versions. */
export const noNextVersion = ({ id, status }: Pick<Meter, 'id' | 'status'>) =>
  invalidOperation(`Meter ${id} is ${status}: it has no next version.`);

/** Archives the meter. Its versions stay: metered usage stays, and prices may still use it. */
export async function archiveMeter(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<void> {
  await tx`
    update meters set ${tx({ status: 'archived', ...changed(deps, caller) })}
     where ${inScope(tx, caller.scope)} and id = ${id}`;
}

async function writeVersion(
  tx: Transaction,
  deps: BillingDeps,
  meter: Meter,
  filteredProperties: readonly string[],
  effectiveFrom: string | null = null,
): Promise<void> {
  await createMeterVersion(tx, meter, {
    id: deps.ids.next('meterv'),
    meter_id: meter.id,
    spec: meterSpec(meter),
    dimensions: meterDimensions(meter.aggregation.group_by, filteredProperties),
    effective_from: effectiveFrom,
    created_by: meter.updated_by,
  });
}

/** What a version of the meter counts. */
export const meterSpec = (
  meter: Pick<Meter, 'event_name' | 'aggregation' | 'filters' | 'reset_usage'>,
): MeterSpec => ({
  event_name: meter.event_name,
  aggregation: meter.aggregation,
  filters: meter.filters,
  reset_usage: meter.reset_usage,
});
