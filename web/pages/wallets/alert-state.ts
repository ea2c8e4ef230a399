import type { ApiRecord } from '../../client/api.ts';

/**
 * The state of a wallet's alerts; null if its own are turned off. A wallet without alerts of its own has those that
 * the settings define for all wallets.
 */
export const alertStateOf = ({
  alert_settings,
  alert_state,
}: Pick<ApiRecord<'Wallet'>, 'alert_settings' | 'alert_state'>): string | null =>
  alert_settings?.alert_enabled === false && alert_state === 'ok' ? null : alert_state;
