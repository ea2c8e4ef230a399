import { isTerminalCheckout } from '../../../domain/states/checkout.ts';
import type { Scope } from '../../../postgres/client.ts';
import {
  checkoutFields,
  type CheckoutRecord,
  type CheckoutSession,
} from '../../../schemas/checkout.ts';
import type { PaymentRecord } from '../../../schemas/payment.ts';
import type { ApiDeps, BillingDeps } from '../../deps.ts';
import { picked } from '../../conventions/picked.ts';
import { paymentAnswer } from '../payments/answers.ts';
import { getPayment } from '../records/payment-repository.ts';
import { checkoutLink } from './page-link.ts';

/** The answer of the gateway is stale after this time (money 11.20). */
const STALE_AFTER_MS = 60_000;

/** The session as answered, with its payment and when to ask again. */
export async function checkoutAnswer(
  deps: Pick<BillingDeps, 'pool' | 'clock' | 'secretBox'> & Partial<Pick<ApiDeps, 'publicUrl'>>,
  scope: Scope,
  session: CheckoutRecord,
): Promise<CheckoutSession> {
  const { pool: db, secretBox, publicUrl } = deps;
  const nowMs = deps.clock.now();
  const row =
    session.checkout_payment_id === null
      ? null
      : await getPayment(db, scope, session.checkout_payment_id);
  const terminal = isTerminalCheckout(session.checkout_status);
  const stale = !terminal && isStale(row, session, nowMs);
  const atGateway = row?.payment_url ?? null;
  // The test gateway has no page: the customer pays on ours.
  const isOurs = row !== null && atGateway !== null && session.payment_provider === 'test';
  const url =
    isOurs && publicUrl !== undefined
      ? checkoutLink({ secretBox, publicUrl }, session, row)
      : atGateway;
  return {
    ...picked(checkoutFields, session),
    payment_action: url === null ? null : { type: 'payment_link', url },
    payment: row === null ? null : { ...(await paymentAnswer(db, scope, row)), payment_url: url },
    terminal,
    stale,
    next_poll_after_ms: terminal ? 0 : pollAfter(nowMs - Date.parse(session.created_at), stale),
  };
}

/** Whether the last answer of the gateway is old, or the last question had none (money 11.20). */
function isStale(
  payment: PaymentRecord | null,
  { created_at }: CheckoutRecord,
  nowMs: number,
): boolean {
  const asked = payment?.last_synced_at ?? null;
  const answered = payment?.last_answered_at ?? null;
  if (asked !== null && (answered === null || answered < asked)) return true;
  return nowMs - Date.parse(answered ?? created_at) > STALE_AFTER_MS;
}

/** Sooner for a young session, later while the gateway does not answer (money 11.20). */
function pollAfter(ageMs: number, stale: boolean): number {
  const wait = ageMs < 60_000 ? 2_000 : ageMs < 300_000 ? 5_000 : 15_000;
  return stale ? wait * 2 : wait;
}
