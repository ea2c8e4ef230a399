import type { Decimal } from '../money.ts';

/**
 * Whether a change requested with a checkout waits for its payment (billing 14.1, 15;
 * money 11.7). If nothing is due, or the customer is owed money, the checkout is ignored and the
 * change applies immediately.
 */
export const waitsForPayment = (hasCheckout: boolean, due: Decimal): boolean =>
  hasCheckout && due.gt(0);
