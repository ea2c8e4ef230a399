import { Decimal, decimal, decimalText } from '../../../domain/money.ts';
import { alertTransition, type AlertState } from '../../../domain/wallet/balance-alert.ts';
import { featureAlertState } from '../../../domain/wallet/feature-alert.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { AlertSettings } from '../../../schemas/feature.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import type { WalletRow } from '../credits/wallet-repository.ts';
import { insertAlertLog } from '../records/alert-log-repository.ts';
import { watchedFeatures } from './balance-repository.ts';

/**
 * Compares the ongoing credits of the wallet with the levels of each feature; logs and announces the changes
 * (money 4.12). The wallet is locked.
 */
export async function writeFeatureAlerts(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  wallet: WalletRow,
  ongoing: Decimal,
  at: string,
): Promise<void> {
  const { scope } = caller;
  const features = await watchedFeatures(tx, scope, [wallet.id]);
  for (const { id, alert_settings, previous } of features) {
    const state = featureState(alert_settings, ongoing);
    const transition = alertTransition(previous, state);
    if (transition === null) continue;
    await insertAlertLog(tx, deps, caller, {
      entity_type: 'feature',
      entity_id: id,
      parent_entity_type: 'wallet',
      parent_entity_id: wallet.id,
      customer_id: wallet.customer_id,
      alert_type: 'feature_wallet_balance',
      period_start: null,
      state,
      value: ongoing,
      settings: alert_settings,
      at,
    });
    const { external_id } = await getCustomer(tx, scope, wallet.customer_id);
    await writeOutboxEvents(tx, [
      {
        scope,
        event_type: 'feature.wallet_balance.alert',
        entity: { entity_type: 'wallet', entity_id: wallet.id },
        payload: {
          alert_type: 'feature_wallet_balance',
          alert_status: state,
          previous_status: transition.previous_state,
          feature_id: id,
          wallet_id: wallet.id,
          customer_id: wallet.customer_id,
          external_id,
          current_balance: decimalText(ongoing.times(decimal(wallet.conversion_rate))),
          credit_balance: decimalText(ongoing),
        },
      },
    ]);
  }
}

/** The state of a feature's alert for a wallet with these ongoing credits. */
export const featureState = (settings: AlertSettings, ongoing: Decimal): AlertState =>
  featureAlertState(levelsOf(settings), ongoing);

const levelsOf = ({ alert_enabled, critical, warning, info }: AlertSettings) => ({
  alert_enabled,
  critical: levelOf(critical),
  warning: levelOf(warning),
  info: levelOf(info),
});

const levelOf = (level: AlertSettings['critical']) =>
  level === null ? null : { ...level, threshold: decimalText(new Decimal(level.threshold)) };
