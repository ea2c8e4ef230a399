import { createHash } from 'node:crypto';
import { BillingError } from '../../../domain/errors.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { CreatePaymentBody, PaymentRecord } from '../../../schemas/payment.ts';
import type { Caller } from '../../conventions/record.ts';
import { findPaymentByKey } from '../records/payment-repository.ts';

/** Destination, amount and method must be equal in a repeat; metadata may differ (money 8.2.1). */
export function fingerprintOf(body: CreatePaymentBody): string {
  const content = JSON.stringify([
    body.destination_type,
    body.destination_id,
    body.amount,
    body.currency,
    body.payment_method_type,
    body.payment_method_id ?? null,
    body.payment_gateway ?? null,
  ]);
  return createHash('sha256').update(content).digest('hex');
}

/**
 * The earlier payment with the key. If the caller sent no key, only a payment in flight is a repeat: a
 * request after settlement is a new payment (money 8.2.2).
 */
export async function repeatedPayment(
  tx: Transaction,
  { scope }: Caller,
  key: string | null,
  fingerprint: string,
): Promise<PaymentRecord | null> {
  if (key === null)
    return await findPaymentByKey(tx, scope, { implicit_key: `payment-${fingerprint}` });
  const known = await findPaymentByKey(tx, scope, { idempotency_key: key });
  if (known === null || known.request_fingerprint === fingerprint) return known;
  throw keyConflict('idempotency_key_reused', 'was used for another payment');
}

export const keyInUse = (): BillingError =>
  keyConflict('idempotency_key_in_use', 'is used by a request that is running; repeat it');

const keyConflict = (code: string, message: string): BillingError =>
  new BillingError('conflict', code, `idempotency_key: ${message}.`, [
    { path: 'idempotency_key', code, message },
  ]);
