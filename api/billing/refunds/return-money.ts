import { invalidField } from '../../../domain/errors.ts';
import {
  allocateRefund,
  refundedPaymentStatus,
  type RefundPart,
} from '../../../domain/invoicing/refunds.ts';
import type { RefundTarget } from '../../../domain/invoicing/credit-notes.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { decimalText, sum, type Decimal } from '../../../domain/money.ts';
import { movePayment } from '../../../domain/states/payment.ts';
import { moveRefund } from '../../../domain/states/refund.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { insertRows } from '../../../postgres/insert-rows.ts';
import { byId } from '../../../postgres/table.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { PaymentRecord } from '../../../schemas/payment.ts';
import type { RefundRecord } from '../../../schemas/refund.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, newRecord, type Caller } from '../../conventions/record.ts';
import { deletedConnections } from '../gateways/connection-repository.ts';
import { updatePaymentStatuses } from '../records/payment-repository.ts';
import { refundsOfPayments } from '../records/refund-repository.ts';
import { creditPrepaidWallet } from '../wallets/credit-wallet.ts';
import { paymentEvents } from '../records/payment-notification.ts';
import { refundEvent } from './refund-notification.ts';
import { returnCredits } from './return-credits.ts';

/** Why a refund to a deleted connection has failed. */
export const CONNECTION_DELETED = 'The connection to the gateway was deleted before this refund.';

/** An amount to refund, with the reason. */
export interface MoneyBack {
  readonly amount: Decimal;
  readonly target: RefundTarget;
  readonly refund_reason: RefundRecord['refund_reason'];
  /** Null for a payment to a customer. */
  readonly invoice_id: string | null;
  readonly credit_note_id: string | null;
  readonly retry_of?: string | null;
  /** Key of the first refund; refunds of further payments append their number. */
  readonly idempotency_key: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly wallet: WalletCredit;
}

/** The credit of the wallet, if the target is the wallet. */
export interface WalletCredit {
  readonly reason: 'CREDIT_NOTE' | 'INVOICE_VOID_REFUND';
  readonly reference_id: string;
  readonly source: { readonly type: 'INVOICE' | 'PAYMENT' | 'CREDIT_NOTE'; readonly id: string };
  readonly description: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Name of the wallet if a new one is created. */
  readonly wallet_name: string | null;
}

/** The wallet credit of a refund of one payment. */
export const creditForPayment = ({ id }: PaymentRecord): WalletCredit => ({
  reason: 'INVOICE_VOID_REFUND',
  reference_id: id,
  source: { type: 'PAYMENT', id },
  description: `Refund of payment ${id}`,
  metadata: { payment_id: id },
  wallet_name: null,
});

/**
 * Refunds the payments, newest first (money 9.7), and returns the refunds. The wallet is credited at once; a
 * refund to a gateway is stored here and sent after the commit (money 9.3). The caller holds the lock of the
 * invoice, or of the only payment, and derives the invoice again afterwards.
 */
export async function returnMoney(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  paymentsOldestFirst: readonly PaymentRecord[],
  back: MoneyBack,
): Promise<RefundRecord[]> {
  const earlier = await refundsOfPayments(
    tx,
    caller.scope,
    paymentsOldestFirst.map(({ id }) => id),
  );
  const parts = allocateRefund(back.amount, back.target, paymentsOldestFirst, earlier);
  const known = byId(paymentsOldestFirst);
  const paymentOf = (part: RefundPart) => known.get(part.payment_id)!;
  const wallets = parts.filter(({ destination }) => destination === 'PREPAID_WALLET');
  const drafts = parts.map((part, index) =>
    newRefund(deps, caller, paymentOf(part), part, back, index),
  );
  const credited = await creditWallet(tx, deps, caller, paymentOf(parts[0]!), wallets, back);
  const gone = await goneConnections(tx, caller, parts, paymentOf);
  const refunds: RefundRecord[] = [];
  for (const [index, draft] of drafts.entries())
    refunds.push(
      await settledPart(tx, deps, caller, draft, parts[index]!, {
        ...{ credited, earlier, isGone: gone.has(paymentOf(parts[index]!).connection_id ?? '') },
      }),
    );
  await insertRows(tx, 'refunds', refunds);
  await writeOutboxEvents(
    tx,
    refunds.flatMap((refund, index) => [
      refundEvent('refund.created', caller.scope, drafts[index]!),
      ...(refund.refund_status === 'SUCCEEDED'
        ? [refundEvent('refund.succeeded' as const, caller.scope, refund)]
        : []),
      ...(refund.refund_status === 'FAILED'
        ? [refundEvent('refund.failed' as const, caller.scope, refund)]
        : []),
    ]),
  );
  const refunded = [...new Set(parts.map(paymentOf))];
  await movePaymentsByRefunds(tx, deps, caller, refunded, [...earlier, ...refunds]);
  return refunds;
}

/** Derives the status of settled payments from their refunds and stores it (money 9.5). */
export async function movePaymentsByRefunds(
  tx: Transaction,
  deps: Pick<BillingDeps, 'clock'>,
  caller: Caller,
  payments: readonly PaymentRecord[],
  refunds: readonly RefundRecord[],
): Promise<void> {
  const ofPayment = groupBy(refunds, ({ payment_id }) => payment_id);
  const moves = payments.flatMap(({ id, ...payment }) => {
    const status = refundedPaymentStatus({ id, ...payment }, ofPayment.get(id) ?? []);
    if (status === payment.payment_status) return [];
    return [{ id, payment_status: movePayment(payment.payment_status, status) }];
  });
  const change = changed(deps, caller);
  const moved = await updatePaymentStatuses(tx, caller.scope, moves, {
    refunded_at: change.updated_at,
    ...change,
  });
  await writeOutboxEvents(tx, await paymentEvents(tx, 'payment.updated', caller.scope, moved));
}

function newRefund(
  deps: BillingDeps,
  caller: Caller,
  payment: PaymentRecord,
  part: RefundPart,
  back: MoneyBack,
  index: number,
): RefundRecord {
  const record = newRecord(deps, caller, 'refund');
  const isToGateway = part.destination === 'BACK_TO_SOURCE';
  if (isToGateway && payment.connection_id === null)
    throw invalidField('refund_target', 'the payment has no connected gateway to go back to');
  return {
    ...record,
    payment_id: payment.id,
    invoice_id: back.invoice_id,
    customer_id: payment.customer_id,
    credit_note_id: back.credit_note_id,
    refund_target: part.destination === 'PREPAID_WALLET' ? 'PREPAID_WALLET' : 'BACK_TO_SOURCE',
    wallet_transaction_id: null,
    payment_gateway: isToGateway ? payment.payment_gateway : null,
    gateway_refund_id: null,
    gateway_tracking_id: null,
    gateway_metadata: {},
    gateway_idempotency_token: isToGateway ? record.id : null,
    was_sent: false,
    amount: decimalText(part.amount),
    currency: payment.currency,
    refund_status: moveRefund(null, 'create'),
    refund_reason: back.refund_reason,
    idempotency_key: index === 0 ? back.idempotency_key : `${back.idempotency_key}:${index + 1}`,
    failure_reason: null,
    retry_of: back.retry_of ?? null,
    initiated_at: record.created_at,
    succeeded_at: null,
    failed_at: null,
    cancelled_at: null,
    metadata: { ...back.metadata },
  };
}

/** Writes one credit for all parts to the prepaid wallet. Returns its id, or null without such parts. */
async function creditWallet(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  payment: PaymentRecord,
  toWallet: readonly RefundPart[],
  { wallet, idempotency_key }: MoneyBack,
): Promise<string | null> {
  if (toWallet.length === 0) return null;
  const { transaction } = await creditPrepaidWallet(tx, deps, caller, {
    customer_id: payment.customer_id,
    currency: payment.currency,
    amount: decimalText(sum(toWallet.map(({ amount }) => amount))),
    reason: wallet.reason,
    wallet_name: wallet.wallet_name,
    reference_type: 'EXTERNAL',
    reference_id: wallet.reference_id,
    source_type: wallet.source.type,
    source_id: wallet.source.id,
    idempotency_key,
    description: wallet.description,
    metadata: wallet.metadata,
  });
  return transaction.id;
}

/**
 * Executes one part. Credits return to the blocks that paid, and a part for the wallet uses the one credit:
 * both succeed in this transaction. A part for a gateway stays PENDING, unless its connection is deleted.
 */
async function settledPart(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  draft: RefundRecord,
  part: RefundPart,
  known: {
    readonly credited: string | null;
    readonly earlier: readonly RefundRecord[];
    /** Whether the connection of the payment is deleted already: the refund is never sent (money 9.5). */
    readonly isGone: boolean;
  },
): Promise<RefundRecord> {
  switch (part.destination) {
    case 'BACK_TO_SOURCE':
      return known.isGone ? failed(draft) : draft;
    case 'PREPAID_WALLET':
      return settled(draft, known.credited);
    case 'SOURCE_WALLET':
      return settled(draft, await returnCredits(tx, deps, caller, draft, known.earlier));
  }
}

/** The deleted connections among those that parts go back to. */
async function goneConnections(
  tx: Transaction,
  { scope }: Caller,
  parts: readonly RefundPart[],
  paymentOf: (part: RefundPart) => PaymentRecord,
): Promise<ReadonlySet<string>> {
  const ids = parts.flatMap((part) =>
    part.destination === 'BACK_TO_SOURCE' ? (paymentOf(part).connection_id ?? []) : [],
  );
  return await deletedConnections(tx, scope, [...new Set(ids)]);
}

const failed = (refund: RefundRecord): RefundRecord => ({
  ...refund,
  refund_status: moveRefund(refund.refund_status, 'fail'),
  failed_at: refund.created_at,
  failure_reason: CONNECTION_DELETED,
});

/** A refund into a wallet succeeds in the transaction that makes it (money 21). */
const settled = (refund: RefundRecord, wallet_transaction_id: string | null): RefundRecord => ({
  ...refund,
  refund_status: moveRefund(refund.refund_status, 'succeed'),
  wallet_transaction_id,
  succeeded_at: refund.created_at,
});
