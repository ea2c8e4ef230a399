import type { PAYMENT_METHOD_TYPES } from '../../schemas/words.ts';
import { invalidField, invalidOperation } from '../errors.ts';
import { isRounded, type Currency } from '../currency.ts';
import { Decimal, decimal, decimalText, sum, ZERO } from '../money.ts';
import type { PaymentStatus } from '../states/payment-status.ts';

export type PaymentMethodType = (typeof PAYMENT_METHOD_TYPES)[number];

/** Only payments that have not settled may be deleted (interface, other shown behaviors). */
export const isDeletable = (status: PaymentStatus): boolean =>
  status === 'INITIATED' || status === 'PENDING' || status === 'FAILED';

/**
 * Initial status of a payment (money 8.1.3). A payment link is set up first. OFFLINE and CREDITS
 * payments wait for settlement. Other methods are processed immediately unless the caller defers them.
 */
export function initialPaymentStatus(
  method: PaymentMethodType,
  isProcessed: boolean,
): 'INITIATED' | 'PENDING' {
  if (method === 'PAYMENT_LINK') return 'INITIATED';
  if (method === 'OFFLINE' || method === 'CREDITS') return 'PENDING';
  return isProcessed ? 'PENDING' : 'INITIATED';
}

/** Refuses digits that may be a card number: a method is named by its gateway's id. */
export function assertNoCardNumber(method: string, field: string): void {
  if (/^[\d -]{12,}$/.test(method))
    throw invalidField(field, 'must be the id of a method at its gateway, never a card number');
}

/** A payment already made may exceed the amount due; a payment to collect may not (money 8.1.6). */
const mayOverpay = (method: PaymentMethodType): boolean => method === 'OFFLINE';

/** Refuses an amount that is not above zero or has more decimals than the currency (money 8.1.2). */
export function assertAmountIn(currency: Currency, amount: Decimal): void {
  if (amount.lte(0)) throw invalidField('amount', 'must be above 0');
  if (!isRounded(amount, currency))
    throw invalidField('amount', 'has more decimals than the currency');
}

/**
 * Refuses an amount that is not above zero, has more decimals than the currency, or exceeds the open amount
 * minus payments in flight (money 8.1.2, 8.1.6). `isReported`: a gateway reports that the money has
 * moved.
 */
export function assertPaymentAmount(
  amount: Decimal,
  method: PaymentMethodType,
  invoice: {
    readonly currency: Currency;
    readonly amount_remaining: string;
    readonly in_flight: readonly { readonly amount: string }[];
  },
  isReported: boolean,
): void {
  assertAmountIn(invoice.currency, amount);
  if (isReported || mayOverpay(method)) return;
  const asked = sum(invoice.in_flight.map((payment) => decimal(payment.amount)));
  const open = Decimal.max(decimal(invoice.amount_remaining).minus(asked), ZERO);
  if (amount.gt(open)) {
    throw invalidOperation(
      `The payment of ${decimalText(amount)} exceeds the ${decimalText(open)} that is open.`,
      'amount',
    );
  }
}
