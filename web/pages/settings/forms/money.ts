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
    threshold: { kind: 'decimal', label: `Threshold (${unit})`, hint: 'Empty: no such level.' },
    condition: { kind: 'choice', label: 'When the value is', choices: words(conditions) },
  },
});
const levels = (unit: string, conditions: readonly string[] = ['above']) => ({
  alert_enabled: { kind: 'switch', label: 'Send alerts' } as const,
  critical: level('Critical', unit, conditions),
  warning: level('Warning', unit, conditions),
  info: level('Information', unit, conditions),
});
const UNITS: Choices = [['', 'Never'], ...words(CREDIT_GRANT_EXPIRATION_UNITS)];

/** Settings of wallets, alerts, payments and currencies. */
export const MONEY = {
  wallet_balance_alert_config: formOf(
    'Alerts of wallet balances',
    'A webhook is sent when the balance of a wallet falls to a level. A wallet may have its own levels.',
    money.WalletBalanceAlertConfig,
    levels('credits', [...ALERT_CONDITIONS].sort().reverse()),
  ),
  subscription_alert_config: formOf(
    'Alerts of spend',
    'A webhook is sent when the spend of a subscription in its period passes a level.',
    money.SpendAlertConfig,
    levels('currency of the subscription'),
  ),
  entitlement_alert_config: formOf(
    'Alerts of entitlements',
    'A webhook is sent when the usage of a feature passes a level.',
    money.SpendAlertConfig,
    levels('usage'),
  ),
  wallet_topup_config: formOf(
    'Purchases of credits',
    'Limits of what is added to wallets.',
    money.WalletTopupConfig,
    {
      free_credit_limit_per_transaction: {
        kind: 'decimal',
        label: 'Free credits given at once, at most (credits)',
        hint: '0: no limit.',
      },
      min_topup_amount_per_currency: {
        kind: 'pairs',
        label: 'Smallest purchase',
        noun: 'currency',
        key: { label: 'Currency', hint: 'Three letters, for example usd.' },
        value: { kind: 'decimal', label: 'Amount at least', isRequired: true },
      },
    },
  ),
  bonus_credits_topup_config: formOf(
    'Bonus credits',
    'Credits that a purchase earns on top. The first slab that a purchase reaches applies: write the highest first.',
    money.BonusCreditsTopupConfig,
    {
      enabled: { kind: 'switch', label: 'Give bonus credits' },
      slabs: {
        kind: 'rows',
        label: 'Slabs',
        noun: 'slab',
        fields: {
          threshold: {
            kind: 'decimal',
            label: 'From a purchase of (credits)',
            isRequired: true,
          },
          operator: { kind: 'choice', label: 'Reached', choices: [['gte', 'At or above it']] },
          bonus: {
            kind: 'group',
            label: 'Bonus',
            fields: {
              type: {
                kind: 'choice',
                label: 'Bonus',
                choices: [
                  ['percentage', 'Percent of the purchase'],
                  ['flat', 'Credits'],
                ],
              },
              value: { kind: 'decimal', label: 'How much', isRequired: true },
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
      enabled: { kind: 'switch', label: 'Charge again' },
      intervals_days: {
        kind: 'lines',
        of: 'whole',
        label: 'Waits (days)',
        hint: 'Days from each failure to the next charge, one on each line.',
      },
      final_action: {
        kind: 'choice',
        label: 'After the last one',
        choices: [
          ['none', 'Keep the subscription'],
          ['cancel', 'Cancel the subscription'],
        ],
      },
    },
  ),
  payment_mandate_limits: formOf(
    'Charges without the customer',
    'The largest charge without the customer by type of payment method; above it the invoice waits for the customer.',
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
            max_amount: { kind: 'decimal', label: 'At most', isRequired: true },
            currency: {
              kind: 'text',
              label: 'Currency',
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
            label: 'Worth',
            noun: 'currency',
            key: { label: 'Currency', hint: 'Three letters, for example usd.' },
            value: { kind: 'decimal', label: 'Of it for one unit', isRequired: true },
          },
        },
      },
    },
  ),
};
