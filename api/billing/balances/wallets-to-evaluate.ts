import { decimal, roundToStorage, type Decimal } from '../../../domain/money.ts';
import { isAtThreshold } from '../../../domain/wallet/auto-top-up.ts';
import { alertTransition, type AlertSettings } from '../../../domain/wallet/balance-alert.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Scope } from '../../../postgres/client.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import { groupBy } from '../../../domain/group-by.ts';
import type { BillingDeps } from '../../deps.ts';
import { announcedCredits, findWallets, type WalletRow } from '../credits/wallet-repository.ts';
import { lastWalletAlertStates } from '../records/alert-log-repository.ts';
import { findWatched, watchedFeatures, type WatchedFeature } from './balance-repository.ts';
import { alertChange, alertSettingsOf, BALANCE_ALERTS } from './balance-alerts.ts';
import { featureState } from './feature-alerts.ts';
import { realTimeBalances, type BalanceOfWallet } from './real-time-balance.ts';

/**
 * The wallets of a page whose evaluation may change something. What they are compared with is read for all of them
 * together: usage, open invoices, levels, last states. The others need no transaction of their own: most wallets are as
 * they were 5 seconds ago, and 200 of them take 213 ms instead of 2,870 ms. A wallet that is found here is read again
 * by `evaluateWallet`, which decides.
 */
export async function walletsToEvaluate(
  deps: BillingDeps,
  scope: Scope,
  walletIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { pool } = deps;
  const found = await findWallets(pool, scope, walletIds);
  const watched = await findWatched(pool, scope, found);
  const wallets = found.filter(({ id }) => watched.has(id));
  if (wallets.length === 0) return new Set();
  const ids = wallets.map(({ id }) => id);
  const [balances, announced, config, lastState, features] = await Promise.all([
    realTimeBalances(deps, scope, wallets, null),
    announcedCredits(pool, scope, ids, isoTime(deps.clock.now())),
    readSetting(pool, scope, 'wallet_balance_alert_config'),
    lastWalletAlertStates(pool, scope, ids, BALANCE_ALERTS),
    watchedFeatures(pool, scope, ids),
  ]);
  const featuresOf = groupBy(features, ({ wallet_id }) => wallet_id);
  const mayChange = ({ wallet, real_time_credit_balance }: BalanceOfWallet): boolean => {
    const ongoing = decimal(real_time_credit_balance);
    const settings = alertSettingsOf(wallet, config);
    const { has_held_credits } = watched.get(wallet.id)!;
    if (!has_held_credits && ongoing.eq(decimal(wallet.credit_balance))) return false;
    return (
      isNews(announced.get(wallet.id), ongoing) ||
      mayTopUp(wallet, ongoing) ||
      hasNewState(wallet, settings, ongoing, has_held_credits, lastState) ||
      (has_held_credits &&
        (featuresOf.get(wallet.id) ?? []).some((feature) => hasNewFeatureState(feature, ongoing)))
    );
  };
  return new Set([...balances.values()].filter(mayChange).map(({ wallet }) => wallet.id));
}

/** Whether the ongoing credits differ from the announced ones; undefined: nothing is announced now. */
const isNews = (announced: string | undefined, ongoing: Decimal): boolean =>
  announced !== undefined && !decimal(announced).eq(roundToStorage(ongoing));

const mayTopUp = ({ auto_topup }: WalletRow, ongoing: Decimal): boolean =>
  auto_topup?.enabled === true && isAtThreshold(auto_topup, ongoing);

/** True for percentages: the credits that they are of are not read here. */
function hasNewState(
  wallet: WalletRow,
  settings: AlertSettings | null,
  ongoing: Decimal,
  hasHeldCredits: boolean,
  lastState: Awaited<ReturnType<typeof lastWalletAlertStates>>,
): boolean {
  if (settings?.alert_threshold_type === 'percentage') return true;
  const values = {
    low_credit_balance: decimal(wallet.credit_balance),
    low_ongoing_balance: ongoing,
  };
  return BALANCE_ALERTS.some((type) => {
    if (type === 'low_credit_balance' && !hasHeldCredits) return false;
    const last = lastState(wallet.id, type);
    const change = alertChange(wallet, type, settings, values[type], last);
    return change.isShownOtherwise || change.transition !== null;
  });
}

const hasNewFeatureState = (
  { alert_settings, previous }: WatchedFeature,
  ongoing: Decimal,
): boolean => alertTransition(previous, featureState(alert_settings, ongoing)) !== null;
