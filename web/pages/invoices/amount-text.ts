import * as z from 'zod';
import { isAbove, typed } from '../../app/billing/amounts.ts';
import { formatMoney } from '../../ui/text.ts';

/** An amount as typed; the server checks it again. */
export const amountText = z
  .string()
  .refine((text) => typed(text) !== null, 'must be a decimal number such as "12.50"');

/** An amount that may be left out. */
export const amountOrNothing = z
  .string()
  .refine((text) => text.trim() === '' || typed(text) !== null, {
    message: 'must be a decimal number such as "12.50"',
  });

/** Whether the amount is above 0 and not above `most`. */
export const isWithin = (text: string, most: string): boolean =>
  isAbove(text, '0') && !isAbove(text, most);

/** What an amount beyond `most` has to be instead. */
export const withinText = (most: string, currency: string): string =>
  `must be above 0 and at most ${formatMoney(most, currency)}`;
