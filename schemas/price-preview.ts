import { z } from 'zod';
import { decimalText, instant } from './primitives.ts';
import { BILLING_PERIODS } from './words.ts';

/**
 * What a new version of a plan's price changes once it is applied to the running subscriptions (billing 2.8). Amounts
 * are in the currency of the price, for one billing period of the price, before commitments, discounts and taxes. A
 * fixed price counts with the quantity of the line, a usage price with the quantity of the last invoice of the line.
 */
export const PricePreview = z
  .object({
    price_id: z.string(),
    currency: z.string(),
    billing_period: z.enum(BILLING_PERIODS),
    billing_period_count: z.int(),
    effective_from: instant,
    /** Running subscriptions whose lines follow the price. */
    subscriptions: z.int(),
    /** Those in the amounts. */
    compared: z.int(),
    /** Those without a quantity to compare: nothing is invoiced yet, or windows or groups are rated separately. */
    not_compared: z.int(),
    /** False: there are more subscriptions than one preview reads; the numbers are of the part that was read. */
    is_complete: z.boolean(),
    /** By the terms that the lines have now. */
    amount_now: decimalText,
    /** By the new terms. */
    amount_then: decimalText,
    difference: decimalText,
  })
  .meta({ id: 'PricePreview' });
export type PricePreview = z.infer<typeof PricePreview>;
