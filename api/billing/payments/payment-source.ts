import { invalidField } from '../../../domain/errors.ts';
import { assertTestMethod } from '../../../platform/gateways/test-gateway.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import type { CreatePaymentBody, PaymentRecord } from '../../../schemas/payment.ts';
import type { PaymentMethod } from '../../../schemas/payment-method.ts';
import type { Caller } from '../../conventions/record.ts';
import { findGatewayConnection, holdConnection } from '../gateways/connection-repository.ts';
import { findPaymentMethod, findUsableMethod } from '../records/payment-method-repository.ts';

/** Methods by which this product collects the money. */
export const isCollected = (method: CreatePaymentBody['payment_method_type']): boolean =>
  method !== 'OFFLINE' && method !== 'CREDITS';

type Source = Pick<PaymentRecord, 'connection_id' | 'payment_gateway'> &
  Partial<Pick<PaymentRecord, 'payment_method_id'>>;

/**
 * The gateway that moves the money, and the method that it charges: a saved one, one that the gateway knows, or
 * for a card the customer's default (money 8.1.3, 8.5). Without a connection the payment can only be recorded,
 * and the tenant reports its outcome; a pending payment is refused.
 */
export async function sourceOf(
  tx: Transaction,
  { scope }: Caller,
  body: CreatePaymentBody,
  customerId: string,
): Promise<Source> {
  const { payment_method_type: type } = body;
  const payment_gateway = body.payment_gateway ?? null;
  if (!isCollected(type)) return { connection_id: null, payment_gateway };
  const saved = await savedMethodOf(tx, scope, body, customerId);
  if (saved !== null && (await holdConnection(tx, scope, saved.connection_id))) {
    const { connection_id, id: payment_method_id } = saved;
    return { connection_id, payment_gateway: saved.payment_gateway, payment_method_id };
  }
  const found = await findGatewayConnection(tx, scope, payment_gateway);
  if (found !== null && (await holdConnection(tx, scope, found.id))) {
    if (type !== 'PAYMENT_LINK' && !body.payment_method_id)
      throw invalidField('payment_method_id', 'is required: the customer has no default method');
    if (found.provider_type === 'stripe' && type === 'PAYMENT_LINK' && !body.success_url)
      throw invalidField('success_url', 'is required for a page of Stripe');
    if (found.provider_type === 'test' && type !== 'PAYMENT_LINK')
      assertTestMethod(body.payment_method_id!);
    return { connection_id: found.id, payment_gateway: found.provider_type };
  }
  if (body.process_payment !== false)
    throw invalidField(
      'payment_gateway',
      'is not connected; connect it or record the payment only',
    );
  if (body.save_card_and_make_default === true)
    throw invalidField('save_card_and_make_default', 'needs a gateway that is connected');
  return { connection_id: null, payment_gateway };
}

/** The saved method that the request names, or for a card without a name the default; null: none is saved. */
async function savedMethodOf(
  tx: Transaction,
  scope: Scope,
  body: CreatePaymentBody,
  customerId: string,
): Promise<PaymentMethod | null> {
  const { payment_method_type: type, payment_method_id: named } = body;
  if (type === 'PAYMENT_LINK' || (!named && type !== 'CARD')) return null;
  const known = named ? await findPaymentMethod(tx, scope, named) : null;
  const usable = await findUsableMethod(tx, scope, customerId, named ?? null);
  if (known !== null && usable?.id !== known.id)
    throw invalidField('payment_method_id', 'is not a saved payment method of the customer');
  if (usable === null) return null;
  const isOther = body.payment_gateway && body.payment_gateway !== usable.payment_gateway;
  if (isOther && known !== null)
    throw invalidField('payment_gateway', `the method is saved at ${usable.payment_gateway}`);
  return isOther ? null : usable;
}
