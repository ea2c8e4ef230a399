import { BillingError } from '../../../domain/errors.ts';
import type { GatewayPayment, PaymentGateway } from '../../../platform/gateways/gateway.ts';
import type { PaymentRecord } from '../../../schemas/payment.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { inCustomersTime } from '../../customers/test-clocks/in-customers-time.ts';
import { expireCheckout } from '../checkout/expire-checkout.ts';
import { applyGatewayPayment } from '../payments/apply-gateway.ts';
import {
  closeAtGateway,
  closedByDeletion,
  mayAppear,
  neverArrived,
} from '../payments/close-payment.ts';
import { findGatewayToken } from '../payments/reconcile-repository.ts';
import { getPayment } from '../records/payment-repository.ts';
import { dispatchRefund, dispatchRefunds } from '../refunds/settle-refund.ts';
import { findGateway, isGatewaySilent } from '../gateways/open-gateway.ts';
import {
  openPaymentsOf,
  openRefundsOf,
  watchedPaymentsOf,
  type OpenPayment,
  type WorkPage,
} from './open-work-repository.ts';

/** Records per query. */
const PAGE = 100;
/** Most payments, and most refunds, that one request asks the gateway about, one after another. */
const PER_REQUEST = 500;

/**
 * Ends what is open at the gateway of a connection, because nothing can be asked there once the credentials are deleted
 * (money 11.16): pages are closed, money that has arrived is booked, and refunds are read. What cannot be ended now
 * does not keep the connection: sessions then expire without the gateway. 409 if more are open than one request ends;
 * the next request goes on. Returns a function that tells whether a payment was tried as it is now: one that was being
 * sent is tried again once the gateway has it. If the gateway is silent, all count as tried.
 */
export async function closeGateway(
  deps: BillingDeps,
  caller: Caller,
  connectionId: string,
  perRequest = PER_REQUEST,
): Promise<(payment: OpenPayment) => boolean> {
  const { pool } = deps;
  const { scope } = caller;
  const inTime = (paymentId: string) => inCustomersTime(pool, deps, scope, [paymentId]);
  const tried = new Set<string>();
  const isSilent = await inPages(
    deps,
    (page) => openPaymentsOf(pool, scope, connectionId, page),
    async (payment) => {
      tried.add(stateKey(payment));
      await closePayment(await inTime(payment.id), caller, payment);
    },
    perRequest,
  );
  // The page of a voided or deleted payment may have been paid, and nobody asks later. No limit of the request counts
  // them: they stay watched after they are closed.
  if (!isSilent)
    await inPages(
      deps,
      (page) => watchedPaymentsOf(pool, scope, connectionId, page),
      async (payment) => closePayment(await inTime(payment.id), caller, payment),
      Infinity,
    );
  await inPages(
    deps,
    (page) => openRefundsOf(pool, scope, connectionId, page),
    async ({ id, payment_id }) => void (await dispatchRefund(await inTime(payment_id), caller, id)),
    perRequest,
  );
  return (payment) => isSilent || tried.has(stateKey(payment));
}

const stateKey = ({ id, is_known }: OpenPayment): string => JSON.stringify([id, is_known]);

/**
 * Works on each record of the pages, until the gateway does not answer. Returns whether it is silent. 409 if there are
 * more than `most` records; the rest is tried all the same if no record could be ended, because a repeated request
 * would end none either.
 */
async function inPages<Row extends { readonly id: string }>(
  deps: BillingDeps,
  find: (page: WorkPage) => Promise<Row[]>,
  work: (row: Row) => Promise<void>,
  most: number,
): Promise<boolean> {
  const limit = Math.min(PAGE, most);
  let after = '';
  let [tried, done] = [0, 0];
  for (;;) {
    const rows = await find({ after, limit });
    if (rows.length > 0 && tried >= most && done > 0) throw moreIsOpen();
    for (const row of rows) {
      // One after the other: a conditional request is one transaction.
      try {
        await work(row);
        done += 1;
      } catch (error) {
        deps.log.warn({ err: error, id: row.id }, 'not ended at its gateway');
        if (isGatewaySilent(error)) return true;
      }
    }
    tried += rows.length;
    after = rows.at(-1)?.id ?? after;
    if (rows.length < limit) return false;
  }
}

/** 409: pages stay open. */
export const moreIsOpen = (): BillingError =>
  new BillingError(
    'conflict',
    'payments_open',
    'More payments are open at the gateway than one request ends. Repeat the request: it goes on.',
  );

async function closePayment(
  deps: BillingDeps,
  caller: Caller,
  { id, session_id }: OpenPayment,
): Promise<void> {
  if (session_id !== null) {
    await expireCheckout(deps, caller, session_id, 'cancel');
    return;
  }
  const payment = await getPayment(deps.pool, caller.scope, id);
  const { connection_id } = payment;
  const open = connection_id && (await findGateway(deps, caller.scope, connection_id));
  if (!open) return;
  const state = await lastState(deps, caller, open.gateway, payment);
  if (state === null) return;
  const { refunds } = await deps.pool.begin((tx) =>
    applyGatewayPayment(tx, deps, caller, open, id, state),
  );
  await dispatchRefunds(deps, caller, refunds);
}

/**
 * The state of a payment after it was closed at its gateway. A charge that never arrived has failed. Null if the
 * gateway may still show it: a person tells its outcome (money 8.3.1).
 */
async function lastState(
  deps: BillingDeps,
  { scope }: Caller,
  gateway: PaymentGateway,
  payment: PaymentRecord,
): Promise<GatewayPayment | null> {
  const { gateway_payment_id, payment_status } = payment;
  if (payment_status === 'PROCESSING')
    return gateway_payment_id === null ? null : await gateway.findPayment(gateway_payment_id);
  const state = await closeAtGateway(
    gateway,
    payment,
    await findGatewayToken(deps.pool, scope, payment.id),
  );
  if (state === null) return mayAppear(deps, payment) ? null : neverArrived(gateway, payment);
  return closedByDeletion(state);
}
