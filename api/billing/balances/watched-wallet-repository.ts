import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import {
  environmentsOf,
  livesBy,
  type ClockRef,
  type Timeline,
} from '../../../postgres/tables/test-clocks.ts';

/** Conditions on an environment's settings, features and alerts: `row` has its `tenant_id` and `environment_id`. */
const hasLevels = (db: Db, row: Fragment): Fragment => db`
  exists (select from settings s
           where s.tenant_id = ${row}.tenant_id and s.environment_id = ${row}.environment_id
             and s.key = 'wallet_balance_alert_config' and (s.value ->> 'alert_enabled')::boolean)`;
const hasFeatureLevels = (db: Db, row: Fragment): Fragment => db`
  exists (select from features f
           where f.tenant_id = ${row}.tenant_id and f.environment_id = ${row}.environment_id
             and f.status = 'published' and (f.alert_settings ->> 'alert_enabled')::boolean)`;
const hasFeatureAlert = (db: Db, row: Fragment, also: Fragment = db``): Fragment => db`
  exists (select from alert_logs l
           where l.tenant_id = ${row}.tenant_id and l.environment_id = ${row}.environment_id
             and l.alert_type = 'feature_wallet_balance' and l.alert_status <> 'ok' ${also})`;

/** Condition: the wallet `w` is active and has levels, an automatic top-up or an alert of its own. */
const isWatchedItself = (db: Db): Fragment => db`
  w.wallet_status = 'active' and w.status = 'published'
  and ((w.alert_settings ->> 'alert_enabled')::boolean or (w.auto_topup ->> 'enabled')::boolean
       or w.alert_state <> 'ok')`;

/**
 * Active wallets with levels, levels of their environment, a current alert, or an automatic top-up, and those
 * in environments with an alert of a feature (money 4.12).
 */
const watched = (db: Db, timeline: Timeline) => db`
  select w.id, w.tenant_id, w.environment_id from wallets w
   where w.wallet_status = 'active' and w.status = 'published'
     and ${livesBy(db, timeline, db`w.customer_id`)}
     and ((${isWatchedItself(db)}) or (w.alert_settings is null and ${hasLevels(db, db`w`)})
          or ${hasFeatureLevels(db, db`w`)}
          or ${hasFeatureAlert(db, db`w`, db`and l.parent_entity_id = w.id`)})`;

/** The watched wallets of the clock's customers. */
export const watchedWalletsOf = (db: Db, clock: ClockRef, at: string): Fragment => db`
  select id from (${watched(db, { at, test_clock_id: clock.id })}) watched where ${inScope(db, clock)}`;

/**
 * Environments that may have watched wallets, unordered. A look at every wallet costs 110 ms for 100,000 of them, and
 * the job runs every 5 s. Spans tenants: for the job only.
 */
export async function scopesWithWatchedWallets(db: Db, timeline: Timeline): Promise<Scope[]> {
  return await db<Scope[]>`
    select tenant_id, environment_id from (${environmentsOf(db, timeline)}) e
     where ${hasLevels(db, db`e`)} or ${hasFeatureLevels(db, db`e`)} or ${hasFeatureAlert(db, db`e`)}
        or (tenant_id, environment_id) in (
             select w.tenant_id, w.environment_id from wallets w where ${isWatchedItself(db)})`;
}

/** Watched wallets of the environment after that id, by id. */
export async function watchedWallets(
  db: Db,
  scope: Scope,
  timeline: Timeline,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id from (${watched(db, timeline)}) watched
     where ${inScope(db, scope)} and id > ${after} order by id limit ${limit}`;
  return rows.map(({ id }) => id);
}
