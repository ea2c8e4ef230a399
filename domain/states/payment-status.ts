/** The nine words that payments and invoices share; each has a table of its own. */
export const PAYMENT_STATUSES = [
  'INITIATED', 'PENDING', 'PROCESSING', 'SUCCEEDED', 'OVERPAID', 'FAILED',
  'REFUNDED', 'PARTIALLY_REFUNDED', 'VOIDED',
] as const; // prettier-ignore
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];
