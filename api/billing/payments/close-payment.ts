import { BillingError } from '../../../domain/errors.ts';
import {
  GatewayUnavailable,
  refusedPayment,
  type GatewayPayment,
  type PaymentGateway,
} from '../../../platform/gateways/gateway.ts';
import type { PaymentRecord } from '../../../schemas/payment.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { findGateway, gatewayUnavailable } from '../gateways/open-gateway.ts';
import { getPayment } from '../records/payment-repository.ts';
import { dispatchRefunds } from '../refunds/settle-refund.ts';
import { applyGatewayPayment } from './apply-gateway.ts';
import { findGatewayToken } from './reconcile-repository.ts';

const CONNECTION_DELETED = 'The connection to the gateway was deleted.';

/** How long a gateway may not show a charge that was sent to it: Stripe's search is up to a minute behind. */
const APPEARS_WITHIN_MS = 60_000;

/**
 * Cancels a payment at its gateway before it is deleted or its session expires. Sends nothing: a charge that never
 * arrived is not made (money 8.3.7, 11.16). If the customer has paid in the meantime, the payment settles instead. 503
 * if the gateway does not answer, 409 if the payment was sent so recently that the gateway may not show it yet. A
 * gateway whose connection is gone cannot be asked: the payment is closed here only.
 */
export async function cancelAtGateway(
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<void> {
  const { pool } = deps;
  const payment = await getPayment(pool, caller.scope, id);
  const { connection_id } = payment;
  if (connection_id === null || !isOpen(payment)) return;
  const token = await findGatewayToken(pool, caller.scope, id);
  // It was only recorded: the gateway knows nothing of it.
  if (payment.gateway_payment_id === null && token === null) return;
  const open = await answered(() => findGateway(deps, caller.scope, connection_id));
  if (open === null) return;
  const state = await answered(() => closeAtGateway(open.gateway, payment, token));
  if (state === null && mayAppear(deps, payment)) throw paymentInProgress();
  if (state?.state !== 'succeeded') return;
  const { refunds } = await pool.begin((tx) =>
    applyGatewayPayment(tx, deps, caller, open, id, state),
  );
  await dispatchRefunds(deps, caller, refunds);
}

/** Whether the payment may still be paid at its gateway. */
const isOpen = ({ status, payment_status }: PaymentRecord): boolean =>
  status === 'published' && (payment_status === 'INITIATED' || payment_status === 'PENDING');

/**
 * Closes a payment at its gateway, which finds it by its id or by the token of its request. Returns its state, which is
 * paid if the customer paid first; null if the gateway does not show it.
 */
export async function closeAtGateway(
  gateway: PaymentGateway,
  { gateway_payment_id }: Pick<PaymentRecord, 'gateway_payment_id'>,
  token: string | null,
): Promise<GatewayPayment | null> {
  const found =
    gateway_payment_id === null && token !== null ? await gateway.findPaymentByToken(token) : null;
  const id = gateway_payment_id ?? found?.gateway_payment_id ?? null;
  return id === null ? null : await gateway.cancelPayment(id);
}

/** The state of a payment that was closed because its connection is deleted, with the reason. */
export const closedByDeletion = (state: GatewayPayment): GatewayPayment =>
  state.state === 'cancelled' ? { ...state, error: state.error ?? CONNECTION_DELETED } : state;

/** The state of a charge that never arrived before its connection was deleted. */
export const neverArrived = (gateway: PaymentGateway, payment: PaymentRecord): GatewayPayment =>
  refusedPayment(gateway, sentAs(payment), CONNECTION_DELETED);

/** What the gateway is told about a payment. */
export const sentAs = ({ id, amount, currency }: PaymentRecord) => ({
  reference: id,
  amount,
  currency,
});

/** Whether the gateway may have a payment that it does not show yet. */
export const mayAppear = (
  { clock }: Pick<BillingDeps, 'clock'>,
  { last_synced_at, updated_at }: PaymentRecord,
): boolean => clock.now() < Date.parse(last_synced_at ?? updated_at) + APPEARS_WITHIN_MS;

/** 409: the outcome at the gateway is not known yet. */
export function paymentInProgress(): BillingError {
  const message = 'The payment waits for its gateway.';
  return new BillingError('conflict', 'payment_in_progress', message, [
    { path: 'payment_status', code: 'payment_in_progress', message },
  ]);
}

async function answered<Answer>(request: () => Promise<Answer>): Promise<Answer> {
  try {
    return await request();
  } catch (error) {
    throw error instanceof GatewayUnavailable ? gatewayUnavailable() : error;
  }
}
