import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import {
  environmentsOf,
  livesBy,
  type ClockRef,
  type Timeline,
} from '../../../postgres/tables/test-clocks.ts';

interface PageRequest {
  readonly after: string;
  readonly limit: number;
}

/** Condition: the setting of the environment of `row` has its switch on. */
const switchedOn = (db: Db, row: Fragment, key: string, also: Fragment = db``): Fragment => db`
  exists (select from settings st
           where st.tenant_id = ${row}.tenant_id and st.environment_id = ${row}.environment_id
             and st.key = ${key} and (st.value ->> 'alert_enabled')::boolean ${also})`;

/**
 * Running subscriptions with levels of spend: their own or the environment's. Subscriptions with an alert in
 * the running period are included even if the switch is off, so that the alert ends.
 */
const watchedSpend = (db: Db, timeline: Timeline): Fragment => db`
  select s.id, s.tenant_id, s.environment_id from subscriptions s
   where s.status = 'published' and s.subscription_status = 'active'
     and s.subscription_type <> 'inherited' and s.start_date <= ${timeline.at}
     and ${livesBy(db, timeline, db`s.customer_id`)}
     and (${switchedOn(
       db,
       db`s`,
       'subscription_alert_config',
       db`and (jsonb_typeof(st.value -> 'critical') = 'object' or jsonb_typeof(st.value -> 'info') = 'object')`,
     )}
       or (${switchedOn(db, db`s`, 'subscription_alert_config')} and exists (
             select from alert_settings a
              where a.tenant_id = s.tenant_id and a.environment_id = s.environment_id
                and a.status = 'published' and a.enabled
                and (a.parent_entity_id = s.id or (a.entity_type = 'subscription' and a.entity_id = s.id))))
       or exists (
             select from alert_logs l
              where l.tenant_id = s.tenant_id and l.environment_id = s.environment_id
                and l.entity_id = s.id and l.period_start = s.current_period_start)
       or exists (
             select from alert_logs l
              where l.tenant_id = s.tenant_id and l.environment_id = s.environment_id
                and l.parent_entity_id = s.id and l.period_start = s.current_period_start))`;

/** Customers with running subscriptions, in environments that evaluate what is granted. */
const watchedGrants = (db: Db, timeline: Timeline): Fragment => db`
  select distinct s.customer_id as id, s.tenant_id, s.environment_id from subscriptions s
   where s.status = 'published' and s.subscription_status in ('active', 'trialing')
     and s.subscription_type <> 'inherited'
     and ${livesBy(db, timeline, db`s.customer_id`)}
     and ${switchedOn(db, db`s`, 'entitlement_alert_config')}`;

const WATCHED = { spend: watchedSpend, grants: watchedGrants } as const;
export type WatchedKind = keyof typeof WATCHED;

/** What is evaluated for the customers of the clock. */
export const watchedOf = (db: Db, clock: ClockRef, at: string): Fragment => {
  const timeline = { at, test_clock_id: clock.id };
  return db`
    select id from (${watchedSpend(db, timeline)}) watched where ${inScope(db, clock)}
     union all
    select id from (${watchedGrants(db, timeline)}) watched where ${inScope(db, clock)}`;
};

/**
 * Condition: the environment of `row` may have something of that kind to evaluate. Read from its settings and alerts:
 * a look at every subscription costs 130 ms for 100,000 of them, and the job runs every 5 s.
 */
const MAY_WATCH: Readonly<Record<WatchedKind, (db: Db, row: Fragment) => Fragment>> = {
  spend: (db, row) => db`
    (${switchedOn(db, row, 'subscription_alert_config')}
     or exists (
          select from alert_logs l join subscriptions s on s.id in (l.entity_id, l.parent_entity_id)
           where l.tenant_id = ${row}.tenant_id and l.environment_id = ${row}.environment_id
             and l.period_start = s.current_period_start))`,
  grants: (db, row) => switchedOn(db, row, 'entitlement_alert_config'),
};

/** Environments that may have something to evaluate. */
export async function scopesWithAlerts(
  db: Db,
  kind: WatchedKind,
  timeline: Timeline,
): Promise<Scope[]> {
  return await db<Scope[]>`
    select tenant_id, environment_id from (${environmentsOf(db, timeline)}) e
     where ${MAY_WATCH[kind](db, db`e`)}
     order by tenant_id, environment_id`;
}

/** Ids after that one, ascending: of subscriptions for `spend`, of customers for `grants`. */
export async function watchedIds(
  db: Db,
  kind: WatchedKind,
  scope: Scope,
  timeline: Timeline,
  { after, limit }: PageRequest,
): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id from (${WATCHED[kind](db, timeline)}) watched
     where ${inScope(db, scope)} and id > ${after} order by id limit ${limit}`;
  return rows.map(({ id }) => id);
}
