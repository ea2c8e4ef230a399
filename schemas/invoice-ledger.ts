import { z } from 'zod';
import { decimalText, instant } from './primitives.ts';
import { PAYMENT_STATUSES } from './words.ts';

export const LEDGER_ENTRY_TYPES = [
  'charge', 'prepaid_credits', 'payment', 'credit_note', 'refund',
] as const; // prettier-ignore

/** One movement on an invoice. */
export const LedgerEntry = z
  .object({
    type: z.enum(LEDGER_ENTRY_TYPES),
    /** The invoice, payment, credit note or refund. */
    id: z.string(),
    at: instant,
    amount: decimalText,
    status: z.string(),
    /** How it changes the open amount; 0 if it does not count (yet). */
    effect: decimalText,
    /** The open amount after it; negative when overpaid. */
    open_amount: decimalText,
    /** By what, or why. */
    reason: z.string().nullable(),
    description: z.string(),
  })
  .meta({ id: 'LedgerEntry' });
export type LedgerEntry = z.infer<typeof LedgerEntry>;

export const InvoiceLedger = z
  .object({
    invoice_id: z.string(),
    currency: z.string(),
    payment_status: z.enum(PAYMENT_STATUSES),
    total: decimalText,
    adjustment_amount: decimalText,
    amount_due: decimalText,
    amount_paid: decimalText,
    amount_remaining: decimalText,
    overpaid_amount: decimalText,
    refunded_amount: decimalText,
    /** Oldest first. */
    entries: z.array(LedgerEntry),
  })
  .meta({ id: 'InvoiceLedger' });
export type InvoiceLedger = z.infer<typeof InvoiceLedger>;
