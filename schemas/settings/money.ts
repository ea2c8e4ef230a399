import { z } from 'zod';
import {
  currency,
  decimal,
  matching,
  name,
  nonNegativeDecimal,
  pairs,
  positiveDecimal,
} from '../primitives.ts';
import { ALERT_CONDITIONS, CREDIT_GRANT_EXPIRATION_UNITS } from '../words.ts';

const Level = z.object({ threshold: decimal, condition: z.enum(ALERT_CONDITIONS) });
const levels = {
  alert_enabled: z.boolean().optional(),
  critical: Level.nullish(),
  warning: Level.nullish(),
  info: Level.nullish(),
};
type Levels = z.output<z.ZodObject<typeof levels>>;

/** Null means that the level is unset. */
export const LEVELS = ['critical', 'warning', 'info'] as const;

/** Refuses inconsistent levels of any alert: a warning alone, or two different conditions. */
function refuseLevels(value: Levels, context: z.core.$RefinementCtx<Levels>): void {
  const refuse = (path: string[], message: string) =>
    context.addIssue({ code: 'custom', path, message });
  if (value.warning && !value.critical) refuse(['critical'], 'is required beside warning');
  const conditions = LEVELS.flatMap((key) => value[key]?.condition ?? []);
  if (new Set(conditions).size > 1)
    refuse(
      [LEVELS.findLast((key) => value[key])!, 'condition'],
      'must be that of the other levels',
    );
}

/**
 * Order critical, warning, info: each at least its predecessor; for spend, each less than its predecessor.
 */
function refuseOrder(
  value: Levels,
  context: z.core.$RefinementCtx<Levels>,
  inOrder: (before: bigint, threshold: bigint) => boolean,
): void {
  const given = LEVELS.flatMap((key) => (value[key] ? [{ key, ...value[key] }] : []));
  for (const [index, { key, threshold }] of given.entries()) {
    const before = given[index - 1];
    if (before === undefined || inOrder(scaled(before.threshold), scaled(threshold))) continue;
    const message = `is not beyond the level ${before.key}`;
    context.addIssue({ code: 'custom', path: [key, 'threshold'], message });
  }
}

/** Canonical decimal text as a whole number of 10^-18. */
function scaled(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(`${whole}${fraction.padEnd(18, '0')}`);
}

/**
 * A balance alert ignores the condition: a falling balance reaches info before warning before critical
 * (money 4.2 and 4.3).
 */
export const WalletBalanceAlertConfig = z.object(levels).superRefine((value, context) => {
  refuseLevels(value, context);
  refuseOrder(value, context, (before, threshold) => before <= threshold);
  if (value.alert_enabled === true && LEVELS.every((key) => !value[key]))
    context.addIssue({
      code: 'custom',
      path: ['critical'],
      message: 'is needed, or another level',
    });
});

/** The switch of alerts on growing values, and the default levels (money 20.2). */
export const SpendAlertConfig = z.object(levels).superRefine((value, context) => {
  refuseLevels(value, context);
  refuseOrder(value, context, (before, threshold) => before > threshold);
  for (const key of LEVELS)
    if (value[key]?.condition === 'below')
      context.addIssue({ code: 'custom', path: [key, 'condition'], message: 'must be "above"' });
});
export const WALLET_BALANCE_ALERT_CONFIG_DEFAULT = {
  alert_enabled: false,
  critical: { condition: 'below', threshold: '0' },
  info: null,
  warning: null,
} as const;
export const SPEND_ALERT_CONFIG_DEFAULT = {
  alert_enabled: false,
  critical: null,
  warning: null,
  info: null,
};

export const WalletTopupConfig = z.object({
  /** Credits; 0 means no limit. */
  free_credit_limit_per_transaction: nonNegativeDecimal.optional(),
  /** Currency → minimum amount of a purchase. */
  min_topup_amount_per_currency: pairs(nonNegativeDecimal, 256, currency).optional(),
});
export const WALLET_TOPUP_CONFIG_DEFAULT = {
  free_credit_limit_per_transaction: '0',
  min_topup_amount_per_currency: { usd: '1' },
};

const BonusSlab = z.object({
  threshold: nonNegativeDecimal,
  operator: z.literal('gte'),
  bonus: z.object({ type: z.enum(['flat', 'percentage']), value: nonNegativeDecimal }),
  expiration_duration: z.int32().min(1).nullish(),
  expiration_duration_unit: z.enum(CREDIT_GRANT_EXPIRATION_UNITS).nullish(),
});
/** The first slab that a purchase reaches applies, so the highest comes first (money 2.11.10). */
export const BonusCreditsTopupConfig = z
  .object({ enabled: z.boolean().optional(), slabs: z.array(BonusSlab).max(100).optional() })
  .superRefine(({ enabled, slabs = [] }, context) => {
    const refuse = (path: PropertyKey[], message: string) =>
      context.addIssue({ code: 'custom', path, message });
    if (enabled === true && slabs.length === 0) refuse(['slabs'], 'are needed when enabled');
    for (const [index, slab] of slabs.entries()) {
      const before = slabs[index - 1];
      if (before && scaled(slab.threshold) >= scaled(before.threshold))
        refuse(['slabs', index, 'threshold'], 'must be below the one before');
      if ((slab.expiration_duration == null) !== (slab.expiration_duration_unit == null))
        refuse(['slabs', index, 'expiration_duration'], 'comes with its unit');
    }
  });
export const BONUS_CREDITS_TOPUP_CONFIG_DEFAULT = { enabled: false, slabs: [] };

export const PaymentMandateLimits = z.object({
  mandate_limits: pairs(
    z.object({
      max_amount: nonNegativeDecimal,
      /** Empty means the currency of the payment. */
      currency: matching(/^([A-Za-z]{3})?$/, 3, 'expected three letters').default(''),
    }),
    50,
    name(50),
  ).optional(),
});
export const PAYMENT_MANDATE_LIMITS_DEFAULT = {
  mandate_limits: { UPI: { currency: 'INR', max_amount: '100000' } },
};

/** Charges after a declined one: days from each failure to the next charge (money 8.7). */
export const PaymentRetryConfig = z.object({
  enabled: z.boolean().optional(),
  intervals_days: z.array(z.int32().min(1).max(60)).min(1).max(10).optional(),
  final_action: z.enum(['none', 'cancel']).optional(),
});
export const PAYMENT_RETRY_CONFIG_DEFAULT = {
  enabled: false,
  intervals_days: [3, 5, 7],
  final_action: 'none',
} as const;

/** Every custom currency has a factor for the same fiat currencies (specification, Custom currency). */
export const CustomCurrencyConfig = z
  .strictObject({
    currencies: z
      .array(
        z.object({
          code: currency,
          name: name(),
          symbol: name(10),
          conversion_factors: pairs(positiveDecimal, 256, currency),
        }),
      )
      .max(100)
      .optional(),
  })
  .superRefine(({ currencies = [] }, context) => {
    const refuse = (index: number, field: string, message: string) =>
      context.addIssue({ code: 'custom', path: ['currencies', index, field], message });
    const fiatOf = (index: number) =>
      Object.keys(currencies[index]!.conversion_factors).sort().join(', ');
    for (const [index, { code }] of currencies.entries()) {
      if (currencies.findIndex((other) => other.code === code) !== index)
        refuse(index, 'code', `"${code}" is a duplicate code`);
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
