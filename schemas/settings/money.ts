import { z } from 'zod';
import { currency, decimal, name, nonNegativeDecimal, positiveDecimal } from '../primitives.ts';
import { ALERT_CONDITIONS } from '../words.ts';

const Level = z.strictObject({ threshold: decimal, condition: z.enum(ALERT_CONDITIONS) });

/** Levels are crossed in order: below, critical < warning < info; above, the reverse. */
export const AlertConfig = z
  .strictObject({
    alert_enabled: z.boolean().optional(),
    critical: Level.nullish(),
    warning: Level.nullish(),
    info: Level.nullish(),
  })
  .superRefine((value, context) => {
    const levels = (['critical', 'warning', 'info'] as const).flatMap((key) =>
      value[key] ? [{ key, ...value[key] }] : [],
    );
    for (const [index, level] of levels.entries()) {
      const before = levels[index - 1];
      if (before === undefined) continue;
      const difference = Number(level.threshold) - Number(before.threshold);
      const inOrder = level.condition === 'below' ? difference > 0 : difference < 0;
      if (before.condition === level.condition && inOrder) continue;
      const message = `is not beyond the level ${before.key}`;
      context.addIssue({ code: 'custom', path: [level.key, 'threshold'], message });
    }
  });
export const WALLET_BALANCE_ALERT_CONFIG_DEFAULT = {
  alert_enabled: false,
  critical: { condition: 'below', threshold: '0' },
  info: null,
  warning: null,
} as const;
export const ALERT_CONFIG_DEFAULT = {
  alert_enabled: false,
  critical: null,
  warning: null,
  info: null,
};

export const WalletTopupConfig = z.strictObject({
  /** Credits; 0 is no limit. */
  free_credit_limit_per_transaction: nonNegativeDecimal.optional(),
  /** Currency → least amount of a purchase. */
  min_topup_amount_per_currency: z.record(currency, nonNegativeDecimal).optional(),
});
export const WALLET_TOPUP_CONFIG_DEFAULT = {
  free_credit_limit_per_transaction: '0',
  min_topup_amount_per_currency: { usd: '1' },
};

const BonusSlab = z.strictObject({
  threshold: nonNegativeDecimal,
  operator: z.literal('gte'),
  bonus_type: z.enum(['flat', 'percentage']),
  bonus_value: nonNegativeDecimal,
  expiry_duration: z.int().min(1).nullish(),
  expiry_duration_unit: z.enum(['DAY', 'WEEK', 'MONTH', 'YEAR']).nullish(),
});
export const BonusCreditsTopupConfig = z
  .strictObject({ enabled: z.boolean(), slabs: z.array(BonusSlab).max(100).optional() })
  .superRefine(({ enabled, slabs = [] }, context) => {
    const refuse = (path: PropertyKey[], message: string) =>
      context.addIssue({ code: 'custom', path, message });
    if (enabled && slabs.length === 0) refuse(['slabs'], 'are needed when enabled');
    for (const [index, slab] of slabs.entries()) {
      const before = slabs[index - 1];
      if (before && Number(slab.threshold) >= Number(before.threshold))
        refuse(['slabs', index, 'threshold'], 'must be below the one before');
      if ((slab.expiry_duration == null) !== (slab.expiry_duration_unit == null))
        refuse(['slabs', index, 'expiry_duration'], 'comes with its unit');
    }
  });
export const BONUS_CREDITS_TOPUP_CONFIG_DEFAULT = { enabled: false, slabs: [] };

export const PaymentMandateLimits = z.strictObject({
  mandate_limits: z.record(
    name(50),
    z.strictObject({
      max_amount: nonNegativeDecimal,
      currency: z.string().regex(/^[A-Za-z]{3}$/, 'expected three letters'),
    }),
  ),
});
export const PAYMENT_MANDATE_LIMITS_DEFAULT = {
  mandate_limits: { UPI: { currency: 'INR', max_amount: '100000' } },
};

/** Every custom currency names a factor for the same fiat currencies (specification, Custom currency). */
export const CustomCurrencyConfig = z
  .strictObject({
    currencies: z
      .array(
        z.strictObject({
          code: currency,
          name: name(),
          symbol: name(10),
          conversion_factors: z.record(currency, positiveDecimal),
        }),
      )
      .max(100),
  })
  .superRefine(({ currencies }, context) => {
    const refuse = (index: number, field: string, message: string) =>
      context.addIssue({ code: 'custom', path: ['currencies', index, field], message });
    const fiatOf = (index: number) =>
      Object.keys(currencies[index]!.conversion_factors).sort().join(', ');
    for (const [index, { code }] of currencies.entries()) {
      if (currencies.findIndex((other) => other.code === code) !== index)
        refuse(index, 'code', `"${code}" stands here twice`);
      if (fiatOf(index) === '') refuse(index, 'conversion_factors', 'needs at least one factor');
      else if (fiatOf(index) !== fiatOf(0))
        refuse(
          index,
          'conversion_factors',
          `must name the same currencies as the first: ${fiatOf(0)}`,
        );
    }
  });
export const CUSTOM_CURRENCY_CONFIG_DEFAULT = { currencies: [] };
