import type { MeterVersion } from '../../../domain/metering/usage.ts';
import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import { columnList } from '../../../postgres/parameters.ts';
import { LINE_ITEM_COLUMNS, type LineItemRow } from '../../../schemas/subscription.ts';
import type { Meter } from '../../../schemas/meter.ts';
import { findMeters } from '../../catalog/meters/repository.ts';
import { findPrices, type PriceRow } from '../../catalog/prices/repository.ts';

const MATCHES_MAX = 100;

/** Published meters with an event name. */
export async function metersOfEventName(db: Db, scope: Scope, eventName: string): Promise<Meter[]> {
  const rows = await db<{ id: string }[]>`
    select id from meters
     where ${inScope(db, scope)} and event_name = ${eventName} and status = 'published'
     order by created_at, id limit ${MATCHES_MAX}`;
  return inOrder(rows, await findMeters(db, scope, idsOf(rows)));
}

/**
 * Meter versions of events with that name that ended in the partition at or before the record, by meter and
 * version.
 */
export async function findEndedVersions(
  db: Db,
  scope: Scope,
  eventName: string,
  at: { readonly epoch: number; readonly partition: number; readonly offset: number | bigint },
): Promise<Pick<MeterVersion, 'id' | 'meter_id' | 'spec'>[]> {
  return await db<Pick<MeterVersion, 'id' | 'meter_id' | 'spec'>[]>`
    select v.id, v.meter_id, v.spec
      from meter_versions v
      join meter_live l on l.meter_version_id = v.id
     where ${inScope(db, scope, 'v')}
       and v.spec ->> 'event_name' = ${eventName}
       and l.epoch = ${at.epoch} and l.partition = ${at.partition}
       and l.live_until <= ${String(at.offset)}::bigint
     order by v.meter_id, v.version`;
}

/** Published usage prices of the meters, oldest first. */
export async function pricesOfMeters(
  db: Db,
  scope: Scope,
  meterIds: readonly string[],
): Promise<PriceRow[]> {
  const rows = await db<{ id: string }[]>`
    select id from prices
     where ${inScope(db, scope)}
       and meter_id = any(${meterIds as string[]}::text[])
       and entity_type <> 'COSTSHEET'
       and status = 'published'
     order by created_at, id limit ${MATCHES_MAX}`;
  return inOrder(rows, await findPrices(db, scope, idsOf(rows)));
}

/** Lines of the customer's subscriptions that rate usage of one of the meters, at any time. */
export function usageLinesOfCustomer(
  db: Db,
  scope: Scope,
  customerId: string,
  meterIds: readonly string[],
): Promise<LineItemRow[]> {
  return db<LineItemRow[]>`
    select ${columnList(db, LINE_ITEM_COLUMNS, 'li')}
      from subscription_line_items li
      join subscriptions s on s.id = li.subscription_id
     where ${inScope(db, scope, 'li')}
       and (s.customer_id = ${customerId} or s.id in (
             select parent_subscription_id from subscriptions
              where ${inScope(db, scope)} and customer_id = ${customerId}
                and subscription_type = 'inherited' and status = 'published'))
       and s.status = 'published' and s.subscription_status <> 'draft' and li.status = 'published'
       and li.price_type = 'USAGE'
       and li.meter_id = any(${meterIds as string[]}::text[])
     order by li.created_at, li.id`;
}

/** Every published subscription of the customers, drafts left out: they bill nothing. */
export async function subscriptionsOfCustomers(
  db: Db,
  scope: Scope,
  customerIds: readonly string[],
): Promise<{ id: string; customer_id: string }[]> {
  if (customerIds.length === 0) return [];
  return await db<{ id: string; customer_id: string }[]>`
    select id, customer_id from subscriptions
     where ${inScope(db, scope)}
       and customer_id = any(${customerIds as string[]}::text[])
       and status = 'published' and subscription_status <> 'draft'`;
}

/** Published customers with any of the external ids. */
export async function customersByExternalIds(
  db: Db,
  scope: Scope,
  externalIds: readonly string[],
): Promise<{ id: string; external_id: string }[]> {
  if (externalIds.length === 0) return [];
  return await db<{ id: string; external_id: string }[]>`
    select id, external_id from customers
     where ${inScope(db, scope)}
       and external_id = any(${externalIds as string[]}::text[])
       and status = 'published'`;
}

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

function inOrder<Row extends { id: string }>(
  order: readonly { id: string }[],
  found: readonly Row[],
): Row[] {
  return order.flatMap(({ id }) => found.find((row) => row.id === id) ?? []);
}
