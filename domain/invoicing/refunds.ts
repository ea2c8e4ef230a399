import assert from 'node:assert/strict';
import { BillingError, invalidField } from '../errors.ts';
import { groupBy } from '../group-by.ts';
import { Decimal, decimal, sum, ZERO } from '../money.ts';
import { moveRefund, type RefundStatus } from '../states/refund.ts';
import type { PaymentStatus } from '../states/payment-status.ts';
import type { RefundTarget } from './credit-notes.ts';
import { broughtMoney } from './payment-ledger.ts';

/** The fields of a refund that computations need; amounts as decimal text. */
export interface Refund {
  readonly payment_id: string | null;
  readonly refund_status: RefundStatus;
  readonly amount: string;
}

export interface RefundablePayment {
  readonly id: string;
  readonly payment_status: PaymentStatus;
  readonly payment_method_type: string;
  readonly amount: string;
}

/** Destination of a part of a refund. */
export type RefundDestination = RefundTarget | 'SOURCE_WALLET';

export interface RefundPart {
  readonly payment_id: string;
  readonly amount: Decimal;
  /** `SOURCE_WALLET`: the wallet of the CREDITS payment, into the same blocks (money 9.7). */
  readonly destination: RefundDestination;
}

/** Refunds that use capacity: in flight or succeeded (money 9.2). */
const reserves = (refund: Refund): boolean =>
  refund.refund_status === 'PENDING' ||
  refund.refund_status === 'PROCESSING' ||
  refund.refund_status === 'SUCCEEDED';

/** Amount of a payment that can still be refunded; zero unless it has settled (money 9.2). */
export function refundCapacity(payment: RefundablePayment, refunds: readonly Refund[]): Decimal {
  if (!broughtMoney(payment)) return ZERO;
  const reserved = sum(
    refunds
      .filter((refund) => refund.payment_id === payment.id && reserves(refund))
      .map((refund) => decimal(refund.amount)),
  );
  return Decimal.max(decimal(payment.amount).minus(reserved), ZERO);
}

/** Sum of the refunds in flight and of those that succeeded. */
export const refundsReserved = (refunds: readonly Refund[]): Decimal =>
  sum(refunds.filter(reserves).map((refund) => decimal(refund.amount)));

/** Sum of the refunds in flight. */
export const refundsInFlight = (refunds: readonly Refund[]): Decimal =>
  sum(
    refunds
      .filter((refund) => reserves(refund) && refund.refund_status !== 'SUCCEEDED')
      .map((refund) => decimal(refund.amount)),
  );

/**
 * Splits a refund over the payments of an invoice, newest first, each up to its capacity (money
 * 9.7). A CREDITS payment always returns to its own wallet, for every target. An OFFLINE payment cannot
 * return to its source. Refuses an amount above the total capacity.
 */
export function allocateRefund(
  amount: Decimal,
  target: RefundTarget,
  paymentsOldestFirst: readonly RefundablePayment[],
  refunds: readonly Refund[],
): RefundPart[] {
  assert(amount.gt(0), 'a refund of nothing');
  let left = amount;
  const parts: RefundPart[] = [];
  const ofPayment = groupBy(refunds, ({ payment_id }) => payment_id);
  for (const payment of paymentsOldestFirst.toReversed()) {
    const part = Decimal.min(left, refundCapacity(payment, ofPayment.get(payment.id) ?? []));
    if (part.lte(0)) continue;
    const destination = destinationOf(payment, target);
    parts.push({ payment_id: payment.id, amount: part, destination });
    left = left.minus(part);
  }
  if (left.gt(0)) throw invalidField('amount', 'exceeds the amount that can be refunded');
  return parts;
}

function destinationOf(payment: RefundablePayment, target: RefundTarget): RefundDestination {
  if (payment.payment_method_type === 'CREDITS') return 'SOURCE_WALLET';
  if (payment.payment_method_type === 'OFFLINE' && target === 'BACK_TO_SOURCE') {
    throw invalidField('refund_target', 'an OFFLINE payment has no source to go back to');
  }
  return target;
}

/** Status of a settled payment, derived from its refunds (money 9.5). */
export function refundedPaymentStatus(
  payment: RefundablePayment,
  refunds: readonly Refund[],
): PaymentStatus {
  const returned = sum(
    refunds
      .filter((refund) => refund.payment_id === payment.id)
      .filter((refund) => refund.refund_status === 'SUCCEEDED')
      .map((refund) => decimal(refund.amount)),
  );
  if (returned.isZero()) return payment.payment_status;
  return returned.gte(decimal(payment.amount)) ? 'REFUNDED' : 'PARTIALLY_REFUNDED';
}

/** A failed gateway refund can be paid into the wallet instead, only once (money 9.6). */
export function assertRetryable(refund: {
  readonly refund_status: RefundStatus;
  readonly was_retried: boolean;
}): void {
  moveRefund(refund.refund_status, 'retry');
  if (!refund.was_retried) return;
  const message = 'The refund was retried before.';
  throw new BillingError('conflict', 'already_exists', message, [
    { path: 'refund_status', code: 'already_retried', message },
  ]);
}
