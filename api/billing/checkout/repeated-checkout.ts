import { BillingError } from '../../../domain/errors.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { requestFingerprint } from '../../../postgres/tables/idempotency.ts';
import type { CheckoutRecord, CreateCheckoutBody } from '../../../schemas/checkout.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { findActiveCheckout, updateCheckout } from '../records/checkout-repository.ts';

/**
 * The active session that the same request opened with its key; null without one (money 11.10). 409 if another request
 * opened the session of the key, because that session sells something else.
 */
export async function repeatedCheckout(
  tx: Transaction,
  { scope }: Caller,
  body: CreateCheckoutBody,
): Promise<CheckoutRecord | null> {
  if (body.idempotency_key == null) return null;
  const known = await findActiveCheckout(tx, scope, body.idempotency_key);
  if (known === null || known.request_fingerprint === requestFingerprint('POST', 'checkout', body))
    return known;
  throw keyReused();
}

/** Notes the request that opened the session, so that its repeat finds it. */
export async function noteRequest(
  tx: Transaction,
  deps: Pick<BillingDeps, 'clock'>,
  caller: Caller,
  sessionId: string,
  body: CreateCheckoutBody,
): Promise<CheckoutRecord> {
  const request_fingerprint = requestFingerprint('POST', 'checkout', body);
  const change = { request_fingerprint, ...changed(deps, caller) };
  return await updateCheckout(tx, caller.scope, sessionId, change);
}

function keyReused(): BillingError {
  const message = 'is used by the session of another request';
  return new BillingError('conflict', 'idempotency_key_reused', `idempotency_key: ${message}.`, [
    { path: 'idempotency_key', code: 'idempotency_key_reused', message },
  ]);
}
