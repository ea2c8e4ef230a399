import type { Decimal } from '../../../domain/money.ts';
import {
  alertState,
  alertTransition,
  type AlertSettings,
  type AlertState,
  type AlertTransition,
} from '../../../domain/wallet/balance-alert.ts';
import type { SettingValue } from '../../../schemas/settings/settings.ts';
import type { WalletRow } from '../credits/wallet-repository.ts';

/** The alerts of a wallet: on its settled credits, and on those less what is unsettled. */
export const BALANCE_ALERTS = ['low_credit_balance', 'low_ongoing_balance'] as const;
export type BalanceAlertType = (typeof BALANCE_ALERTS)[number];

/** The levels of a wallet: its own, or those of its environment; null without any. */
export function alertSettingsOf(
  { alert_settings }: Pick<WalletRow, 'alert_settings'>,
  config: SettingValue<'wallet_balance_alert_config'>,
): AlertSettings | null {
  if (alert_settings !== null) return alert_settings;
  return config.alert_enabled
    ? ({ ...config, alert_threshold_type: 'absolute' } as AlertSettings)
    : null;
}

/** What an evaluation changes of one alert of a wallet. */
export interface AlertChange {
  readonly state: AlertState;
  /** Null: nothing is logged. */
  readonly transition: AlertTransition | null;
  /** Whether the wallet shows another state. It shows that of its ongoing credits. */
  readonly isShownOtherwise: boolean;
}

/** `previous` is the state that was logged last; null if none was. */
export function alertChange(
  wallet: Pick<WalletRow, 'alert_state'>,
  type: BalanceAlertType,
  settings: AlertSettings | null,
  value: Decimal,
  previous: AlertState | null,
): AlertChange {
  const state = alertState(settings, value, previous ?? 'ok') ?? 'ok';
  return {
    state,
    transition: alertTransition(previous, state),
    isShownOtherwise: type === 'low_ongoing_balance' && wallet.alert_state !== state,
  };
}
