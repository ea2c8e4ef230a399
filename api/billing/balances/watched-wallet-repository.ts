import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import { livesBy, type ClockRef, type Timeline } from '../../../postgres/tables/test-clocks.ts';

/**
 * Active wallets with levels, levels of their environment, a current alert, or an automatic top-up, and those
 * in environments with an alert of a feature (money 4.12).
 */
const watched = (db: Db, timeline: Timeline) => db`
  select w.id, w.tenant_id, w.environment_id from wallets w
   where w.wallet_status = 'active' and w.status = 'published'
     and ${livesBy(db, timeline, db`w.customer_id`)}
     and ((w.alert_settings ->> 'alert_enabled')::boolean or (w.auto_topup ->> 'enabled')::boolean
          or w.alert_state <> 'ok'
          or (w.alert_settings is null and exists (
                select from settings s
                 where s.tenant_id = w.tenant_id and s.environment_id = w.environment_id
                   and s.key = 'wallet_balance_alert_config'
                   and (s.value ->> 'alert_enabled')::boolean))
          or exists (
               select from features f
                where f.tenant_id = w.tenant_id and f.environment_id = w.environment_id
                  and f.status = 'published' and (f.alert_settings ->> 'alert_enabled')::boolean)
          or exists (
               select from alert_logs l
                where l.tenant_id = w.tenant_id and l.environment_id = w.environment_id
                  and l.parent_entity_id = w.id and l.alert_type = 'feature_wallet_balance'
                  and l.alert_status <> 'ok'))`;

/** The watched wallets of the clock's customers. */
export const watchedWalletsOf = (db: Db, clock: ClockRef, at: string): Fragment => db`
  select id from (${watched(db, { at, test_clock_id: clock.id })}) watched where ${inScope(db, clock)}`;

/** Environments with watched wallets, unordered. Spans tenants: for the job only. */
export async function scopesWithWatchedWallets(db: Db, timeline: Timeline): Promise<Scope[]> {
  return await db<Scope[]>`
    select distinct tenant_id, environment_id from (${watched(db, timeline)}) watched`;
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
