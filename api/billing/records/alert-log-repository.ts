import { decimalText, type Decimal } from '../../../domain/money.ts';
import type { AlertState } from '../../../domain/wallet/balance-alert.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { columnsOf, jsonOf } from '../../../postgres/parameters.ts';
import type { AlertLog } from '../../../schemas/alert.ts';
import type { BillingDeps } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';

/** One sequence of states: an entity, under its parent, in one period (money 4.7). */
export type AlertStream = Pick<
  AlertLog,
  | 'entity_type'
  | 'entity_id'
  | 'parent_entity_type'
  | 'parent_entity_id'
  | 'alert_type'
  | 'period_start'
>;

/** A change of the state of a stream. */
export interface AlertChange extends AlertStream {
  readonly customer_id: string;
  readonly state: AlertState;
  readonly value: Decimal;
  /** The levels that were compared. */
  readonly settings: object | null;
  readonly at: string;
}

/** Adds the change to the log. The caller excludes other writers of the stream. */
export async function insertAlertLog(
  tx: Transaction,
  deps: Pick<BillingDeps, 'ids' | 'clock'>,
  caller: Caller,
  change: AlertChange,
): Promise<void> {
  const { state, value, settings, at, ...stream } = change;
  const alert_info = {
    alert_settings: settings,
    value_at_time: decimalText(value),
    timestamp: at,
  };
  await tx`insert into alert_logs ${columnsOf(tx, {
    ...newRecord(deps, caller, 'alert'),
    ...stream,
    alert_status: state,
    alert_info: jsonOf(tx, alert_info),
  })}`;
}

/** Last state of each stream of these entities, in these periods; streams without a row are left out. */
export async function lastAlertStates(
  db: Db,
  scope: Scope,
  entityIds: readonly string[],
  periods: readonly string[],
): Promise<(stream: AlertStream) => AlertState | null> {
  const rows =
    entityIds.length === 0
      ? []
      : await db<(AlertStream & { readonly alert_status: AlertState })[]>`
          select distinct on (entity_id, parent_entity_id, alert_type, period_start)
                 entity_type, entity_id, parent_entity_type, parent_entity_id, alert_type, period_start,
                 alert_status
            from alert_logs
           where ${inScope(db, scope)} and entity_id = any(${[...new Set(entityIds)]})
             and period_start = any(${[...new Set(periods)]}::timestamptz[])
           order by entity_id, parent_entity_id, alert_type, period_start, created_at desc, id desc`;
  const states = new Map(rows.map((row) => [streamKey(row), row.alert_status]));
  return (stream) => states.get(streamKey(stream)) ?? null;
}

/** The periods in the log of these entities that start in `[from, until)`, earliest first. */
export async function loggedPeriodsOf(
  db: Db,
  scope: Scope,
  entityIds: readonly string[],
  { from, until }: { readonly from: string; readonly until: string },
): Promise<Pick<AlertStream, 'entity_id' | 'parent_entity_id' | 'period_start'>[]> {
  return await db<Pick<AlertStream, 'entity_id' | 'parent_entity_id' | 'period_start'>[]>`
    select distinct entity_id, parent_entity_id, period_start from alert_logs
     where ${inScope(db, scope)} and entity_id = any(${[...new Set(entityIds)]})
       and period_start >= ${from} and period_start < ${until}
     order by period_start`;
}

/** The last logged states of alerts of wallets, by wallet and type; null if none was logged. */
export async function lastWalletAlertStates(
  db: Db,
  scope: Scope,
  walletIds: readonly string[],
  types: readonly AlertLog['alert_type'][],
): Promise<(walletId: string, type: AlertLog['alert_type']) => AlertState | null> {
  const rows = await db<{ wallet_id: string; alert_type: string; alert_status: AlertState }[]>`
    select w.id as wallet_id, t.type as alert_type, l.alert_status
      from unnest(${walletIds as string[]}::text[]) as w (id)
      cross join unnest(${types as string[]}::text[]) as t (type)
      cross join lateral (
        select alert_status from alert_logs
         where ${inScope(db, scope)} and entity_id = w.id and alert_type = t.type
         order by created_at desc, id desc limit 1) l`;
  const keyOf = (walletId: string, type: string) => JSON.stringify([walletId, type]);
  const states = new Map(
    rows.map((row) => [keyOf(row.wallet_id, row.alert_type), row.alert_status]),
  );
  return (walletId, type) => states.get(keyOf(walletId, type)) ?? null;
}

const streamKey = (stream: AlertStream): string =>
  JSON.stringify([
    stream.entity_id,
    stream.parent_entity_id,
    stream.alert_type,
    stream.period_start,
  ]);
