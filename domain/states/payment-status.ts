import type { PAYMENT_STATUSES } from '../../schemas/words.ts';
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];
