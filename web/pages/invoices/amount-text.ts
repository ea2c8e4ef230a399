import * as z from 'zod';
import { typed } from '../../app/billing/amounts.ts';

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
