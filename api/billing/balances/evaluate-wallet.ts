import { decimal, decimalText, roundToStorage, type Decimal } from '../../../domain/money.ts';
import {
  earliestRunningStart,
  percentageAlertValue,
} from '../../../domain/wallet/balance-alert.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Db, Scope, Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import type { WebhookEventType } from '../../../schemas/webhooks/event-types.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { isOutage } from '../../outage.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import {
  getWallet,
  lockWallet,
  noteAnnouncedCredits,
  updateWalletRow,
  type WalletRow,
} from '../credits/wallet-repository.ts';
import { completedCredits } from '../credits/wallet-transaction-repository.ts';
import { walletSnapshot } from '../credits/wallet-notification.ts';
import { insertAlertLog, lastWalletAlertStates } from '../records/alert-log-repository.ts';
import { alertChange, alertSettingsOf, BALANCE_ALERTS } from './balance-alerts.ts';
import { topUpIfDue } from './automatic-top-up.ts';
import { writeFeatureAlerts } from './feature-alerts.ts';
import { findWatched, runningPeriods } from './balance-repository.ts';
import { realTimeBalances } from './real-time-balance.ts';

const watchOf = async (db: Db, scope: Scope, wallet: WalletRow) =>
  (await findWatched(db, scope, [wallet])).get(wallet.id);

/** How often the balance is read at most if the wallet moves between the read and its lock. */
const READS_MAX = 3;

/**
 * Evaluates the balance of a wallet: logs and announces changes of its alerts, then executes a due automatic
 * top-up (money 3.10, 4). The usage is read before the wallet is locked (2.9.4). At most one top-up per
 * evaluation. The settled credits of a wallet that never held any have not fallen: only unsettled usage and open
 * invoices count (money 3.4).
 */
export async function evaluateWallet(
  deps: BillingDeps,
  caller: Caller,
  walletId: string,
): Promise<void> {
  for (let reads = 1; reads <= READS_MAX; reads += 1)
    if (await isEvaluated(deps, caller, walletId, reads === READS_MAX)) return;
}

/**
 * One evaluation. False if the wallet has moved since its balance was read: nothing is done then, because an invoice
 * or an expiry that was pending may have moved it, and would count twice. The last read counts in any case.
 */
async function isEvaluated(
  deps: BillingDeps,
  caller: Caller,
  walletId: string,
  isLast: boolean,
): Promise<boolean> {
  const { scope } = caller;
  const read = await getWallet(deps.pool, scope, walletId);
  const watch = await watchOf(deps.pool, scope, read);
  if (watch === undefined) return true;
  const balance = (await realTimeBalances(deps, scope, [read], null)).get(walletId)!;
  const pending = decimal(balance.wallet.credit_balance).minus(
    decimal(balance.real_time_credit_balance),
  );
  const { has_held_credits } = watch;
  if (!has_held_credits && pending.isZero()) return true;
  return await deps.pool.begin(async (tx) => {
    const wallet = await lockWallet(tx, scope, walletId);
    if (!isLast && !pending.isZero() && hasMoved(balance.wallet, wallet)) return false;
    const at = isoTime(deps.clock.now());
    // The balance is read again under the lock; unsettled usage is the one read before.
    const ongoing = decimal(wallet.credit_balance).minus(pending);
    await announceOngoing(tx, scope, wallet, ongoing, at);
    await writeAlerts(tx, deps, caller, wallet, ongoing, has_held_credits, at);
    if (has_held_credits) await writeFeatureAlerts(tx, deps, caller, wallet, ongoing, at);
    await topUpIfDue(tx, deps, caller, wallet, ongoing);
    return true;
  });
}

const hasMoved = (before: WalletRow, now: WalletRow): boolean =>
  before.credit_balance !== now.credit_balance || before.updated_at !== now.updated_at;

/**
 * Evaluates the wallet and returns it. An outage of the usage store does not fail the command, which is
 * already committed: the job evaluates the wallet later.
 */
export async function evaluated(
  deps: BillingDeps,
  caller: Caller,
  wallet: WalletRow,
): Promise<WalletRow> {
  if ((await watchOf(deps.pool, caller.scope, wallet)) === undefined) return wallet;
  return await evaluatedWatched(deps, caller, wallet);
}

/** `evaluated` for a wallet that `findWatched` found. */
export async function evaluatedWatched(
  deps: BillingDeps,
  caller: Caller,
  wallet: WalletRow,
): Promise<WalletRow> {
  try {
    await evaluateWallet(deps, caller, wallet.id);
  } catch (error) {
    if (!isOutage(error)) throw error;
    deps.log.warn({ err: error, wallet_id: wallet.id }, 'wallet not evaluated');
  }
  return await getWallet(deps.pool, caller.scope, wallet.id);
}

/**
 * Announces the ongoing credits, at most once a minute, if they differ from those announced last; before the first
 * announcement, from the settled balance, which other notifications tell (money 4.10, 17.3.1).
 */
async function announceOngoing(
  tx: Transaction,
  scope: Scope,
  wallet: WalletRow,
  ongoing: Decimal,
  at: string,
): Promise<void> {
  const credits = decimalText(roundToStorage(ongoing));
  if (!(await noteAnnouncedCredits(tx, scope, wallet.id, { credits, at }))) return;
  const snapshot = {
    ...walletSnapshot(wallet),
    real_time_balance: decimalText(roundToStorage(ongoing.times(decimal(wallet.conversion_rate)))),
    real_time_credit_balance: credits,
  };
  const payload = { wallet: snapshot };
  await writeOutboxEvents(tx, [{ scope, event_type: 'wallet.ongoing_balance.updated', payload }]);
}

async function writeAlerts(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  wallet: WalletRow,
  ongoing: Decimal,
  hasHeldCredits: boolean,
  at: string,
): Promise<void> {
  const config = await readSetting(tx, caller.scope, 'wallet_balance_alert_config');
  const settings = alertSettingsOf(wallet, config);
  const isPercentage = settings?.alert_threshold_type === 'percentage';
  const values = [
    ['low_credit_balance', isPercentage || !hasHeldCredits ? null : decimal(wallet.credit_balance)],
    [
      'low_ongoing_balance',
      isPercentage ? await percentage(tx, caller.scope, wallet, ongoing) : ongoing,
    ],
  ] as const;
  const lastState = await lastWalletAlertStates(tx, caller.scope, [wallet.id], BALANCE_ALERTS);
  for (const [type, value] of values) {
    if (value === null) continue;
    const change = alertChange(wallet, type, settings, value, lastState(wallet.id, type));
    const { state, transition } = change;
    if (change.isShownOtherwise)
      await updateWalletRow(tx, caller.scope, wallet.id, { alert_state: state });
    if (transition === null) continue;
    await insertAlertLog(tx, deps, caller, {
      entity_type: 'wallet',
      entity_id: wallet.id,
      parent_entity_type: null,
      parent_entity_id: null,
      customer_id: wallet.customer_id,
      alert_type: type,
      period_start: null,
      state,
      value,
      settings,
      at,
    });
    const kind = type === 'low_credit_balance' ? 'credit' : 'ongoing';
    const event_type: WebhookEventType = `wallet.${kind}_balance.${transition.event}`;
    const { external_id } = await getCustomer(tx, caller.scope, wallet.customer_id);
    const alert = {
      state,
      previous_state: transition.previous_state,
      alert_type: type,
      current_balance: decimalText(ongoing.times(decimal(wallet.conversion_rate))),
      credit_balance: wallet.credit_balance,
      alert_settings: settings,
    };
    await writeOutboxEvents(tx, [
      {
        scope: caller.scope,
        event_type,
        payload: { wallet: walletSnapshot(wallet), alert, customer: { external_id } },
      },
    ]);
  }
}

/** Ongoing credits as a percentage of the credits that were added (money 4.6); null if none were. */
async function percentage(
  db: Db,
  scope: Scope,
  wallet: WalletRow,
  ongoing: Decimal,
): Promise<Decimal | null> {
  const periods = await runningPeriods(db, scope, wallet.customer_id);
  const since = earliestRunningStart(periods);
  const credits = await completedCredits(db, scope, wallet.id, since);
  return percentageAlertValue(ongoing, periods, credits);
}
