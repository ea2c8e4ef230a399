import { BillingError } from '../../../domain/errors.ts';
import {
  GatewayUnavailable,
  type GatewayPayment,
  type PaymentGateway,
} from '../../../platform/gateways/gateway.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { PaymentRecord } from '../../../schemas/payment.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { findGateway, gatewayUnavailable } from '../gateways/open-gateway.ts';
import { getPayment } from '../records/payment-repository.ts';
import { dispatchRefunds } from '../refunds/settle-refund.ts';
import { applyGatewayPayment } from './apply-gateway.ts';
import { findGatewayToken } from './reconcile-repository.ts';

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
  if (await isOnlyRecorded(pool, caller.scope, payment)) return;
  const open = await answered(() => findGateway(deps, caller.scope, connection_id));
  if (open === null) return;
  const state = await answered(() => closeThere(pool, caller.scope, open.gateway, payment));
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

/** Whether no request about the payment has been prepared for its gateway. */
export const isOnlyRecorded = async (
  db: Db,
  scope: Scope,
  { id, gateway_payment_id }: PaymentRecord,
): Promise<boolean> =>
  gateway_payment_id === null && (await findGatewayToken(db, scope, id)) === null;

/**
 * Closes a payment at its gateway, found there by its id or by the token of its request. Returns its state, which is
 * paid if the money was faster; null if the gateway does not show it.
 */
export async function closeThere(
  db: Db,
  scope: Scope,
  gateway: PaymentGateway,
  payment: PaymentRecord,
): Promise<GatewayPayment | null> {
  const there = payment.gateway_payment_id ?? (await idByToken(db, scope, gateway, payment));
  return there === null ? null : await gateway.cancelPayment(there);
}

async function idByToken(
  db: Db,
  scope: Scope,
  gateway: PaymentGateway,
  { id }: PaymentRecord,
): Promise<string | null> {
  const token = await findGatewayToken(db, scope, id);
  const found = token === null ? null : await gateway.findPaymentByToken(token);
  return found?.gateway_payment_id ?? null;
}

/** Whether a payment that its gateway does not show may have arrived there all the same. */
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
