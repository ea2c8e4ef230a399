import { z } from 'zod';
import { email, text } from '../primitives.ts';

/** E-mails to customers. */
export const CUSTOMER_EMAIL_TYPES = [
  'invoice_issued',
  'receipt',
  'payment_failed',
  'wallet_low',
] as const;
export type CustomerEmailType = (typeof CUSTOMER_EMAIL_TYPES)[number];

const isOneLine = (value: string): boolean =>
  [...value].every((character) => character >= ' ' && character !== '\u007F');

/** E-mails to customers are off unless `enabled` (api 49). */
export const EmailConfig = z.object({
  enabled: z.boolean().optional(),
  /** Name of the sender, before the address of the installation; empty means the name of the tenant. */
  from: text(100).refine(isOneLine, 'must be one line without control characters').optional(),
  /** Where answers go; empty means the address of the sender. */
  reply_to: z.union([email, z.literal('')]).optional(),
  /** The kinds that are sent. */
  types: z.array(z.enum(CUSTOMER_EMAIL_TYPES)).max(CUSTOMER_EMAIL_TYPES.length).optional(),
});
export const EMAIL_CONFIG_DEFAULT = {
  enabled: false,
  from: '',
  reply_to: '',
  types: CUSTOMER_EMAIL_TYPES,
} as const;
