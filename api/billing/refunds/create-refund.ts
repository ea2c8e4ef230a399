import { BillingError, invalidField, invalidOperation } from '../../../domain/errors.ts';
import { assertRetryable, refundCapacity } from '../../../domain/invoicing/refunds.ts';
import { isRounded } from '../../../domain/currency.ts';
import { decimal, type Decimal } from '../../../domain/money.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { PaymentRecord } from '../../../schemas/payment.ts';
import type { CreateRefundBody, RefundRecord } from '../../../schemas/refund.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { lockPaymentWithInvoice } from '../computing/lock-payment.ts';
import { reviseInvoicePayment } from '../computing/revise-invoice-payment.ts';
import {
  findRefundByKey,
  findRetryOf,
  getRefund,
  refundsOfPayments,
} from '../records/refund-repository.ts';
import { recallRefundedCredits } from '../wallets/undo-purchase.ts';
import { creditForPayment, returnMoney, type MoneyBack } from './return-money.ts';

/** A created refund, or the earlier refund with the same key. */
export interface CreatedRefund {
  readonly refund: RefundRecord;
  readonly isRepeat: boolean;
}

/**
 * Refunds one payment: the requested amount, or all that is not refunded yet (money 9.2). The refunds of a
 * payment never exceed it. Credits that the payment has bought are taken back first (9.16). 404 if the payment is
 * unknown.
 */
export async function createRefund(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreateRefundBody,
): Promise<CreatedRefund> {
  const { payment, locked } = await lockPaymentWithInvoice(tx, caller, body.payment_id);
  const key = body.idempotency_key ?? `refund-${deps.ids.next('refund')}`;
  const known = await findRefundByKey(tx, caller.scope, key);
  if (known !== null) {
    const isSame =
      known.payment_id === payment.id &&
      (body.amount == null || decimal(body.amount).eq(decimal(known.amount)));
    if (!isSame) throw keyReused();
    return { refund: known, isRepeat: true };
  }
  const capacity = refundCapacity(payment, await refundsOfPayments(tx, caller.scope, [payment.id]));
  if (capacity.lte(0))
    throw invalidOperation('The payment has nothing left to refund.', 'payment_status');
  const amount = body.amount == null ? capacity : decimal(body.amount);
  if (!isRounded(amount, payment.currency))
    throw invalidField('amount', 'has more decimals than the currency');
  // A larger amount is refused below, by the field.
  if (locked !== null && amount.lte(capacity))
    await recallRefundedCredits(tx, deps, caller, locked.invoice, { amount, key });
  const [refund] = await returnMoney(tx, deps, caller, [payment], {
    ...moneyBack(payment, amount),
    target: body.target ?? 'PREPAID_WALLET',
    refund_reason: body.reason ?? 'REQUESTED_BY_CUSTOMER',
    idempotency_key: key,
    ...(body.metadata == null ? {} : { metadata: body.metadata }),
  });
  if (locked !== null) await reviseInvoicePayment(tx, deps, caller, locked);
  return { refund: refund!, isRepeat: false };
}

/**
 * Replaces a failed refund by a refund to the customer's wallet, once (money 9.6). Returns the new refund.
 */
export async function retryRefund(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<RefundRecord> {
  const { payment_id } = await getRefund(tx, caller.scope, id);
  const { payment, locked } = await lockPaymentWithInvoice(tx, caller, payment_id);
  const failed = await getRefund(tx, caller.scope, id);
  const retry = await findRetryOf(tx, caller.scope, id);
  assertRetryable({ ...failed, was_retried: retry !== null });
  const [refund] = await returnMoney(tx, deps, caller, [payment], {
    ...moneyBack(payment, decimal(failed.amount)),
    target: 'PREPAID_WALLET',
    refund_reason: failed.refund_reason,
    credit_note_id: failed.credit_note_id,
    retry_of: failed.id,
    idempotency_key: `refund-retry:${failed.id}`,
    metadata: failed.metadata,
  });
  if (locked !== null) await reviseInvoicePayment(tx, deps, caller, locked);
  return refund!;
}

function moneyBack(
  payment: PaymentRecord,
  amount: Decimal,
): Pick<MoneyBack, 'amount' | 'invoice_id' | 'credit_note_id' | 'wallet'> {
  return {
    amount,
    invoice_id: payment.destination_type === 'INVOICE' ? payment.destination_id : null,
    credit_note_id: null,
    wallet: creditForPayment(payment),
  };
}

function keyReused(): BillingError {
  const message = 'was used for another refund';
  return new BillingError('conflict', 'idempotency_key_reused', `idempotency_key: ${message}.`, [
    { path: 'idempotency_key', code: 'idempotency_key_reused', message },
  ]);
}
