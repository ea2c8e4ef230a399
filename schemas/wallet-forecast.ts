import * as z from 'zod';
import { decimalText, instant } from './primitives.ts';

/** The balance of a wallet if usage goes on as in the last four weeks. Amounts are in the wallet's currency. */
export const WalletForecast = z
  .object({
    wallet_id: z.string(),
    currency: z.string(),
    /** The time of the forecast. */
    at: instant,
    /** Mean priced usage of a day, not rounded to the currency. */
    daily_usage: decimalText,
    /** Zone of the days of `usage`: that of the customer. */
    timezone: z.string(),
    /**
     * Priced usage of the last four weeks by day, not rounded, oldest first; a day without usage has `0`. Empty without
     * usage.
     */
    usage: z.array(z.object({ day: instant, amount: decimalText })),
    /** When the balance is used up; null if that is not within a year. */
    empty_at: instant.nullable(),
    /** The balance now, at the end of each day, and when it is empty. */
    points: z.array(z.object({ at: instant, balance: decimalText })),
  })
  .meta({ id: 'WalletForecast' });
export type WalletForecast = z.infer<typeof WalletForecast>;
