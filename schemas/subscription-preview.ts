import * as z from 'zod';
import { Invoice } from './invoice.ts';

/** What a subscription that does not run yet is billed in its first period, if it begins as the request says. */
export const SubscriptionPreview = z
  .object({
    /** The fees in advance of the first period. Null without such fees, and if the request makes a draft. */
    opening_invoice: Invoice.nullable(),
    /** The invoice at the end of the first period, or of the trial, with the usage that is known now. */
    closing_invoice: Invoice,
  })
  .meta({ id: 'SubscriptionPreview' });
export type SubscriptionPreview = z.infer<typeof SubscriptionPreview>;
