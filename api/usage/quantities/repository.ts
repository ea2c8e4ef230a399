import { usageQuestionTooLarge } from './too-large.ts';
import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import { columnList } from '../../../postgres/parameters.ts';
import { SUBSCRIPTION_COLUMNS, type SubscriptionRow } from '../../../schemas/subscription.ts';
import type { Meter } from '../../../schemas/meter.ts';
import { findMeters } from '../../catalog/meters/repository.ts';

const METERS_MAX = 10_000;

/** The customer's subscriptions that ran at any time in `[start, end)`, oldest first. A draft does not run. */
export function subscriptionsInRange(
  db: Db,
  scope: Scope,
  customerId: string,
  start: string,
  end: string,
): Promise<SubscriptionRow[]> {
  return db<SubscriptionRow[]>`
    select ${columnList(db, SUBSCRIPTION_COLUMNS)}
      from subscriptions
     where ${inScope(db, scope)}
       and customer_id = ${customerId}
       and ${ranWithin(db, start, end)}
     order by created_at, id`;
}

const ranWithin = (db: Db, start: string, end: string) => db`
  status = 'published' and subscription_status <> 'draft' and start_date < ${end}
  and (end_date is null or end_date > ${start}) and (cancelled_at is null or cancelled_at > ${start})`;

const SUBSCRIPTIONS_MAX = 10_000;

/** The same for all customers. Refused if there are more than one query may read. */
export async function subscriptionsOfScope(
  db: Db,
  scope: Scope,
  start: string,
  end: string,
): Promise<SubscriptionRow[]> {
  const rows = await db<SubscriptionRow[]>`
    select ${columnList(db, SUBSCRIPTION_COLUMNS)}
      from subscriptions
     where ${inScope(db, scope)} and ${ranWithin(db, start, end)}
     order by created_at, id limit ${SUBSCRIPTIONS_MAX + 1}`;
  if (rows.length > SUBSCRIPTIONS_MAX)
    throw usageQuestionTooLarge(
      `There are more than ${SUBSCRIPTIONS_MAX} subscriptions in this time. Query one customer.`,
    );
  return rows;
}

/** The customer's subscriptions that grant entitlements now, oldest first. */
export function runningSubscriptions(
  db: Db,
  scope: Scope,
  customerId: string,
  at: string,
): Promise<SubscriptionRow[]> {
  return db<SubscriptionRow[]>`
    select ${columnList(db, SUBSCRIPTION_COLUMNS)}
      from subscriptions
     where ${inScope(db, scope)}
       and customer_id = ${customerId}
       and status = 'published'
       and subscription_status in ('active', 'trialing')
       and start_date <= ${at}
       and (end_date is null or end_date > ${at})
     order by created_at, id`;
}

/** Published meters of the versions, or only the named ones among them, oldest first. */
export async function metersOfVersions(
  db: Db,
  scope: Scope,
  versionIds: readonly string[],
  ids: readonly string[] | null,
): Promise<Meter[]> {
  const rows = await db<{ id: string }[]>`
    select id from meters
     where ${inScope(db, scope)} and status = 'published'
       and id in (select meter_id from meter_versions
                   where ${inScope(db, scope)} and id = any(${versionIds as string[]}::text[]))
       ${ids === null ? db`` : db`and id = any(${ids as string[]}::text[])`}
     order by created_at, id limit ${METERS_MAX + 1}`;
  if (rows.length > METERS_MAX)
    throw usageQuestionTooLarge(
      `More than ${METERS_MAX} meters have usage. Name the features to query.`,
    );
  const meters = await findMeters(
    db,
    scope,
    rows.map(({ id }) => id),
  );
  const byId = new Map(meters.map((meter) => [meter.id, meter]));
  return rows.flatMap(({ id }) => byId.get(id) ?? []);
}
