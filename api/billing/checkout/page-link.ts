import { timingSafeEqual } from 'node:crypto';
import { notFound } from '../../../domain/errors.ts';
import type { CheckoutRecord } from '../../../schemas/checkout.ts';
import type { CheckoutPageLink } from '../../../schemas/checkout-page.ts';
import type { PaymentRecord } from '../../../schemas/payment.ts';
import { inCustomersTime } from '../../customers/test-clocks/in-customers-time.ts';
import type { Caller } from '../../conventions/record.ts';
import type { ApiDeps } from '../../deps.ts';
import { findCheckoutOfLink } from '../records/checkout-repository.ts';
import { getPayment } from '../records/payment-repository.ts';

/** After its end, the page shows the outcome of the session for this time. */
const AFTERWARDS_MS = 60 * 60 * 1000;

/** The fields that a secret is bound to: it opens one session, for one payment of one amount of one invoice. */
type Session = Pick<
  CheckoutRecord,
  'id' | 'tenant_id' | 'environment_id' | 'checkout_invoice_id' | 'expires_at'
>;
type Payment = Pick<PaymentRecord, 'id' | 'amount' | 'currency'>;

/**
 * The address of a session's payment page; null without a key to make it. The secret follows the #: no
 * server, log or referrer sees it. It is a message authentication code of 256 bits: the database stores neither
 * the secret nor anything that it follows from (money 11.30).
 */
export function checkoutLink(
  { secretBox, publicUrl }: Pick<ApiDeps, 'secretBox' | 'publicUrl'>,
  session: Session,
  payment: Payment,
): string | null {
  const [code] = codesOf(secretBox, session, payment);
  return code === undefined
    ? null
    : `${publicUrl}/checkout/${session.id}#${code.toString('base64url')}`;
}

export interface OpenedLink {
  readonly deps: ApiDeps;
  readonly payer: Caller;
  readonly session: CheckoutRecord;
}

/**
 * The session of a link, and the dependencies with the clock of its customer. 404 for an unknown session, a
 * wrong secret and a link that is over: one hour after the session's end.
 */
export async function openCheckoutLink(
  given: ApiDeps,
  { session_id, secret }: CheckoutPageLink,
): Promise<OpenedLink> {
  const session = await findCheckoutOfLink(given.pool, session_id);
  if (session === null || session.checkout_payment_id === null) throw unknownLink();
  const { tenant_id, environment_id } = session;
  const scope = { tenant_id, environment_id };
  const payment = await getPayment(given.pool, scope, session.checkout_payment_id);
  const presented = Buffer.from(secret, 'base64url');
  const isRight = codesOf(given.secretBox, session, payment).some(
    (code) => code.length === presented.length && timingSafeEqual(code, presented),
  );
  if (!isRight) throw unknownLink();
  const deps = await inCustomersTime(given.pool, given, scope, [session.customer_id]);
  if (deps.clock.now() >= Date.parse(session.expires_at) + AFTERWARDS_MS) throw unknownLink();
  // The payer has no user.
  return { deps, payer: { scope, user_id: '' }, session };
}

const unknownLink = () => notFound('Checkout session', 'of this link');

const codesOf = (secretBox: ApiDeps['secretBox'], session: Session, payment: Payment) =>
  secretBox.codes(
    JSON.stringify([
      session.environment_id,
      session.id,
      session.checkout_invoice_id,
      session.expires_at,
      payment.id,
      payment.amount,
      payment.currency,
    ]),
    { tenant_id: session.tenant_id, column: 'links.checkout' },
  );
