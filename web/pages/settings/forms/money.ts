import * as money from '../../../../schemas/settings/money.ts';
import { ALERT_CONDITIONS, CREDIT_GRANT_EXPIRATION_UNITS } from '../../../../schemas/words.ts';
import { formatWord } from '../../../ui/text.ts';
import { formOf, type Choices, type Field } from './fields.ts';

const words = (all: readonly string[]): Choices => all.map((word) => [word, formatWord(word)]);

const level = (label: string, unit: string, conditions: readonly string[]): Field => ({
  kind: 'group',
  label,
  unsetWithout: 'threshold',
  fields: {
    threshold: { kind: 'decimal', label: 'Threshold', hint: `In ${unit}. Empty: no such level.` },
    condition: { kind: 'choice', label: 'When the value is', choices: words(conditions) },
  },
});
const levels = (unit: string, conditions: readonly string[] = ['above']) => ({
  alert_enabled: { kind: 'switch', label: 'Send alerts' } as const,
  critical: level('Critical', unit, conditions),
  warning: level('Warning', unit, conditions),
  info: level('Notice', unit, conditions),
});
const UNITS: Choices = [['', 'Never'], ...words(CREDIT_GRANT_EXPIRATION_UNITS)];

/** An amount for each currency has its code as the key. */
const CURRENCY_KEY = {
  label: 'Currency',
  hint: 'Three letters, for example USD.',
  isCurrency: true,
};

/** Settings of wallets, alerts, payments and currencies. */
export const MONEY = {
  wallet_balance_alert_config: formOf(
    'Wallet balance alerts',
    'A webhook is sent when the balance of a wallet falls to a level. A wallet may have its own levels.',
    money.WalletBalanceAlertConfig,
    levels('credits', [...ALERT_CONDITIONS].sort().reverse()),
  ),
  subscription_alert_config: formOf(
    'Spend alerts',
    'A webhook is sent when the spend of a subscription in its period passes a level.',
    money.SpendAlertConfig,
    levels('the currency of the subscription'),
  ),
  entitlement_alert_config: formOf(
    'Entitlement alerts',
    'A webhook is sent when the usage of a feature passes a level.',
    money.SpendAlertConfig,
    levels('units of the feature'),
  ),
  wallet_topup_config: formOf('Top-ups', 'Limits of top-ups.', money.WalletTopupConfig, {
    free_credit_limit_per_transaction: {
      kind: 'decimal',
      label: 'Maximum free credits per top-up',
      hint: '0: no limit.',
    },
    min_topup_amount_per_currency: {
      kind: 'pairs',
      label: 'Minimum top-up',
      noun: 'currency',
      key: CURRENCY_KEY,
      value: { kind: 'decimal', label: 'Minimum amount', isRequired: true },
    },
  }),
  bonus_credits_topup_config: formOf(
    'Bonus credits',
    'A top-up brings extra credits. The first tier that it reaches applies, so write the highest tier first.',
    money.BonusCreditsTopupConfig,
    {
      enabled: { kind: 'switch', label: 'Enable bonus credits' },
      slabs: {
        kind: 'rows',
        label: 'Tiers',
        noun: 'tier',
        fields: {
          threshold: {
            kind: 'decimal',
            label: 'Minimum top-up (credits)',
            isRequired: true,
          },
          operator: { kind: 'choice', label: 'Condition', choices: [['gte', 'At or above it']] },
          bonus: {
            kind: 'group',
            label: 'Bonus',
            fields: {
              type: {
                kind: 'choice',
                label: 'Bonus',
                choices: [
                  ['percentage', 'Percent of the top-up'],
                  ['flat', 'Credits'],
                ],
              },
              value: { kind: 'decimal', label: 'Value', isRequired: true },
            },
          },
          expiration_duration: { kind: 'whole', label: 'Expires after', hint: 'Empty: never.' },
          expiration_duration_unit: { kind: 'choice', label: 'Unit', choices: UNITS },
        },
      },
    },
  ),
  payment_retry_config: formOf(
    'Payment retries',
    'What happens after a payment was declined.',
    money.PaymentRetryConfig,
    {
      enabled: { kind: 'switch', label: 'Retry failed payments' },
      intervals_days: {
        kind: 'lines',
        of: 'whole',
        label: 'Retry intervals (days)',
        hint: 'Days from each failure to the next attempt, one on each line.',
      },
      final_action: {
        kind: 'choice',
        label: 'After the last retry',
        choices: [
          ['none', 'Keep the subscription'],
          ['cancel', 'Cancel the subscription'],
        ],
      },
    },
  ),
  payment_mandate_limits: formOf(
    'Mandate limits',
    'A larger amount is not charged automatically: the customer must pay the invoice. Each type of payment method has its own limit.',
    money.PaymentMandateLimits,
    {
      mandate_limits: {
        kind: 'pairs',
        label: 'Limits',
        noun: 'limit',
        key: { label: 'Type of method', hint: 'For example UPI.' },
        value: {
          kind: 'group',
          label: 'Limit',
          fields: {
            max_amount: { kind: 'decimal', label: 'Maximum amount', isRequired: true },
            currency: {
              kind: 'text',
              label: 'Currency',
              isCurrency: true,
              hint: 'Three letters; empty: that of the payment.',
            },
          },
        },
      },
    },
  ),
  custom_currency_config: formOf(
    'Custom currencies',
    'Units of your own in which prices are given, for example credits or tokens.',
    money.CustomCurrencyConfig,
    {
      currencies: {
        kind: 'rows',
        label: 'Currencies',
        noun: 'currency',
        title: 'name',
        fields: {
          code: { kind: 'text', label: 'Code', isRequired: true, hint: 'Three letters or digits.' },
          name: { kind: 'text', label: 'Name', isRequired: true },
          symbol: { kind: 'text', label: 'Symbol', isRequired: true },
          conversion_factors: {
            kind: 'pairs',
            label: 'Exchange rate',
            noun: 'currency',
            key: CURRENCY_KEY,
            value: { kind: 'decimal', label: 'Amount for one unit', isRequired: true },
          },
        },
      },
    },
  ),
};
