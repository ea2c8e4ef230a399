import { BillingError } from '../../../domain/errors.ts';
import {
  GatewayUnavailable,
  refusedPayment,
  type GatewayPayer,
  type GatewayPayment,
  type PaymentGateway,
} from '../../../platform/gateways/gateway.ts';
import { failpoint } from '../../../platform/failpoint.ts';
import { type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import type { PaymentRecord } from '../../../schemas/payment.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, newRecord, type Caller } from '../../conventions/record.ts';
import { holdConnection } from '../gateways/connection-repository.ts';
import { findGateway, payerAt, type OpenGateway } from '../gateways/open-gateway.ts';
import { endsUnpaid, paysCheckout } from '../records/checkout-repository.ts';
import { findCollections } from '../records/collection-repository.ts';
import { findPaymentMethod } from '../records/payment-method-repository.ts';
import { getPayment, insertAttempt, updatePayment } from '../records/payment-repository.ts';
import { dispatchRefunds } from '../refunds/settle-refund.ts';
import { applyGatewayPayment, type Applied } from './apply-gateway.ts';
import { closeAtGateway, closedByDeletion, sentAs } from './close-payment.ts';
import { findGatewayToken } from './reconcile-repository.ts';

/**
 * Stores the token with which the payment is sent to its gateway, in the transaction before the request
 * (money 8.2.4). The caller holds the payment's lock.
 */
export async function reserveAttempt(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  payment: PaymentRecord,
): Promise<void> {
  const record = newRecord(deps, caller, 'attempt');
  await insertAttempt(tx, {
    ...record,
    payment_id: payment.id,
    payment_status: payment.payment_status,
    error_message: null,
    gateway_attempt_id: null,
    gateway_idempotency_token: record.id,
    metadata: {},
  });
}

/**
 * Sends a stored payment to its gateway, or reads its state if it was sent before. If the answer to an
 * earlier request was lost, the token finds the payment; if the request never arrived, it is sent again with
 * the same token. A payment whose session is cancelled or expired is only asked about. A voided or deleted
 * payment is closed at its gateway; if money has arrived there, it is booked (money 8.4.8). If the gateway
 * does not answer, or its connection is gone, the payment does not change and the job retries. Returns the
 * payment.
 */
export async function syncPayment(
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<PaymentRecord> {
  const payment = await getPayment(deps.pool, caller.scope, id);
  if (payment.connection_id === null || !(isInFlight(payment) || isGivenUp(payment)))
    return payment;
  const token = await findGatewayToken(deps.pool, caller.scope, id);
  // It was only recorded: the gateway knows nothing of it.
  if (payment.gateway_payment_id === null && token === null) return payment;
  const noteAsked = (isAnswered: boolean) =>
    deps.pool.begin((tx) => {
      const change = changed(deps, caller);
      const last_synced_at = change.updated_at;
      const times = isAnswered
        ? { last_synced_at, last_answered_at: last_synced_at }
        : { last_synced_at };
      return updatePayment(tx, caller.scope, id, { ...times, ...change });
    });
  try {
    const open = await findGateway(deps, caller.scope, payment.connection_id);
    if (open === null) return await noteAsked(false);
    const state = isGivenUp(payment)
      ? await closeAtGateway(open.gateway, payment, token)
      : await stateOf(deps, caller, open, payment, token);
    failpoint('api.sync_payment.after_answer');
    if (state === null) return await noteAsked(true);
    const applied =
      (await applyWhileConnected(deps, caller, open, payment, state)) ??
      (await applyClosed(deps, caller, open, payment, state));
    await dispatchRefunds(deps, caller, applied.refunds);
    return applied.payment;
  } catch (error) {
    const asked = await noteAsked(false);
    if (!(error instanceof GatewayUnavailable)) throw error;
    return asked;
  }
}

/**
 * Applies the state that the gateway has answered. Null if a payment was opened there for which nobody would ask again:
 * its connection was deleted while it was sent. A deletion that comes now waits for the transaction and then closes
 * what it finds.
 */
async function applyWhileConnected(
  deps: BillingDeps,
  caller: Caller,
  open: OpenGateway,
  payment: PaymentRecord,
  state: GatewayPayment,
): Promise<Applied | null> {
  const isOpen = state.state === 'pending' || state.state === 'requires_action';
  const isNew = payment.gateway_payment_id === null && isOpen;
  return await deps.pool.begin(async (tx) => {
    if (isNew && !(await holdConnection(tx, caller.scope, payment.connection_id!))) return null;
    return await applyGatewayPayment(tx, deps, caller, open, payment.id, state);
  });
}

/** Closes a payment at the gateway with the credentials that opened it, and applies its last state (money 11.16). */
async function applyClosed(
  deps: BillingDeps,
  caller: Caller,
  open: OpenGateway,
  payment: PaymentRecord,
  { gateway_payment_id }: GatewayPayment,
): Promise<Applied> {
  const closed = (await closeAtGateway(open.gateway, { gateway_payment_id }, null))!;
  return await deps.pool.begin((tx) =>
    applyGatewayPayment(tx, deps, caller, open, payment.id, closedByDeletion(closed)),
  );
}

const isInFlight = ({ payment_status: status, status: record }: PaymentRecord): boolean =>
  record === 'published' &&
  (status === 'INITIATED' || status === 'PENDING' || status === 'PROCESSING');

const isGivenUp = ({ payment_status, status, archived_at }: PaymentRecord): boolean =>
  status === 'published' ? payment_status === 'VOIDED' : archived_at !== null;

/** The state at the gateway. Sends the payment if it is not there; null if it is not to be sent any more. */
async function stateOf(
  deps: BillingDeps,
  caller: Caller,
  { gateway }: OpenGateway,
  payment: PaymentRecord,
  token: string | null,
): Promise<GatewayPayment | null> {
  const { scope } = caller;
  if (payment.gateway_payment_id !== null)
    return await gateway.findPayment(payment.gateway_payment_id);
  if (token === null) return null;
  const isAskedBefore = payment.last_synced_at !== null;
  const isEnding = await endsUnpaid(deps.pool, scope, payment.id, deps.clock.now());
  const earlier = isAskedBefore || isEnding ? await gateway.findPaymentByToken(token) : null;
  if (earlier !== null || isEnding) return earlier;
  const sent = sentAs(payment);
  const payer = await payerOrRefusal(deps, caller, gateway, payment.customer_id);
  if (typeof payer === 'string') return refusedPayment(gateway, sent, payer);
  const request = {
    ...sent,
    token,
    method: await gatewayMethodOf(deps.pool, scope, payment),
    payer,
    is_off_session: await isAutomatic(deps.pool, scope, payment),
    saves_method: payment.save_card_and_make_default,
    collects_tax_id: payment.gateway_metadata['tax_id_collection_enabled'] === 'true',
    success_url: payment.success_url,
    cancel_url: payment.cancel_url,
  };
  return payment.payment_method_type === 'PAYMENT_LINK'
    ? await gateway.createLink(request)
    : await gateway.charge(request);
}

/** The customer as the gateway knows them, or why it refuses them. */
async function payerOrRefusal(
  deps: BillingDeps,
  caller: Caller,
  gateway: PaymentGateway,
  customerId: string,
): Promise<GatewayPayer | string> {
  try {
    return await payerAt(deps, caller, gateway, customerId);
  } catch (error) {
    if (!(error instanceof BillingError && error.kind === 'invalid')) throw error;
    return error.message;
  }
}

/** Whether we charge without the customer being there (money 8.6, 11.22). */
async function isAutomatic(db: Db, scope: Scope, payment: PaymentRecord): Promise<boolean> {
  const [row] = await findCollections(db, scope, [payment.destination_id]);
  return row?.last_payment_id === payment.id || (await paysCheckout(db, scope, payment.id));
}

/** A saved method goes to the gateway by the gateway's own id; any other id is the gateway's already. */
async function gatewayMethodOf(
  db: Db,
  scope: Scope,
  { payment_method_id: id }: PaymentRecord,
): Promise<string | null> {
  if (id === null) return null;
  const saved = await findPaymentMethod(db, scope, id);
  return saved?.gateway_method_id ?? id;
}
