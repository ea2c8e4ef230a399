import { invalidField } from '../../../domain/errors.ts';
import {
  cooldownMs,
  validateAutoTopUp,
  type CooldownUnit,
} from '../../../domain/wallet/auto-top-up.ts';
import { validateAlertSettings, type AlertSettings } from '../../../domain/wallet/balance-alert.ts';
import type { TopUpConfig } from '../../../domain/wallet/top-up.ts';
import type { AutoTopUpBody } from '../../../schemas/wallet-requests.ts';
import type { WalletRow } from '../credits/wallet-repository.ts';

/**
 * The alert settings of the request; null if there are none. Refuses settings that cannot be evaluated (money
 * 4.2).
 */
export function checkedAlertSettings(sent: AlertSettings | null | undefined): AlertSettings | null {
  if (sent == null) return null;
  validateAlertSettings(sent);
  return sent;
}

/** The stored automatic top-up with the fields of the request merged into it (money 3.2); null for none. */
export function mergedAutoTopUp(
  stored: WalletRow['auto_topup'],
  sent: AutoTopUpBody | null | undefined,
  wallet: Pick<WalletRow, 'currency' | 'topup_conversion_rate'>,
  limits: TopUpConfig,
): WalletRow['auto_topup'] {
  if (sent == null) return stored;
  const threshold = sent.threshold ?? stored?.threshold;
  const amount = sent.amount ?? stored?.amount;
  const invoicing = sent.invoicing ?? stored?.invoicing;
  if (threshold === undefined) throw invalidField('auto_topup.threshold', 'is required');
  if (amount === undefined) throw invalidField('auto_topup.amount', 'is required');
  if (invoicing === undefined) throw invalidField('auto_topup.invoicing', 'is required');
  const merged = {
    enabled: sent.enabled ?? stored?.enabled ?? false,
    invoicing,
    threshold,
    amount,
    cooldown_ms:
      sent.cooldown === undefined ? (stored?.cooldown_ms ?? null) : cooldownOf(sent.cooldown),
  };
  validateAutoTopUp(wallet, merged, limits);
  return merged;
}

/** Null when it is cleared: the default counts again. */
const cooldownOf = (sent: Exclude<AutoTopUpBody['cooldown'], undefined>): number | null => {
  if (sent === null || sent === '') return null;
  return cooldownMs(
    typeof sent === 'string' ? sent : { value: sent.value, unit: sent.unit as CooldownUnit },
  );
};
