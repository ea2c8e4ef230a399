import { createHash } from 'node:crypto';
import { BillingError } from '../../../domain/errors.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { CheckoutRecord, CreateCheckoutBody } from '../../../schemas/checkout.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { findActiveCheckout, updateCheckout } from '../records/checkout-repository.ts';

/**
 * The active session that the same request opened with its key; null if there is none (money 11.10). 409 if another
 * request used the key: its session sells something else.
 */
export async function repeatedCheckout(
  tx: Transaction,
  { scope }: Caller,
  body: CreateCheckoutBody,
): Promise<CheckoutRecord | null> {
  if (body.idempotency_key == null) return null;
  const known = await findActiveCheckout(tx, scope, body.idempotency_key);
  if (known === null || known.request_fingerprint === fingerprintOf(body)) return known;
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
  const request_fingerprint = fingerprintOf(body);
  const change = { request_fingerprint, ...changed(deps, caller) };
  return await updateCheckout(tx, caller.scope, sessionId, change);
}

/** The whole request counts; the order of its fields does not. */
function fingerprintOf(body: CreateCheckoutBody): string {
  const content = JSON.stringify(body, (_, value: unknown) =>
    value === null || typeof value !== 'object' || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))),
  );
  return createHash('sha256').update(content).digest('hex');
}

function keyReused(): BillingError {
  const message = 'is used by the session of another request';
  return new BillingError('conflict', 'idempotency_key_reused', `idempotency_key: ${message}.`, [
    { path: 'idempotency_key', code: 'idempotency_key_reused', message },
  ]);
}
