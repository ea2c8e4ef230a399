import { validateCoupon } from '../../../domain/invoicing/coupon-gate.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { Coupon, CreateCouponBody } from '../../../schemas/coupon.ts';
import type { BillingDeps } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { assertKnownCurrency } from '../../tenancy/settings/custom-currencies.ts';
import { insertCoupon } from './repository.ts';

/** Creates a coupon. A percentage has no currency; a code is stored in lower case. */
export async function createCoupon(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreateCouponBody,
): Promise<Coupon> {
  const terms = {
    type: body.type,
    amount_off: termOf(body, 'fixed', body.amount_off),
    percentage_off: termOf(body, 'percentage', body.percentage_off),
    currency: body.type === 'percentage' ? null : body.currency || null,
    cadence: body.cadence,
    duration_in_periods: body.duration_in_periods ?? null,
    max_redemptions: body.max_redemptions ?? null,
    redeem_after: body.redeem_after ?? null,
    redeem_before: body.redeem_before ?? null,
  };
  validateCoupon(terms);
  if (terms.currency !== null) await assertKnownCurrency(tx, caller.scope, terms.currency);
  return await insertCoupon(tx, {
    ...newRecord(deps, caller, 'coupon'),
    ...terms,
    amount_off: terms.amount_off ?? '0',
    percentage_off: terms.percentage_off ?? '0',
    name: body.name,
    total_redemptions: 0,
    coupon_code: body.coupon_code?.toLowerCase() ?? null,
    rules: null,
    metadata: body.metadata ?? {},
  });
}

/**
 * Answers contain 0 for the term of the other type, so 0 is accepted here: a client may send an answer back.
 */
const termOf = (body: CreateCouponBody, type: Coupon['type'], term: string | null | undefined) =>
  term == null || (body.type !== type && term === '0') ? null : term;
