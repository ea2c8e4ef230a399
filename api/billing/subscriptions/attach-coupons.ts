import { invalidField, notFound } from '../../../domain/errors.ts';
import { associationWindow } from '../../../domain/invoicing/coupon-association.ts';
import { redeem } from '../../../domain/invoicing/coupon-gate.ts';
import { scheduleAfterTrial } from '../../../domain/subscription/schedule.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { Coupon, CouponAssociation } from '../../../schemas/coupon.ts';
import type { CreateSubscriptionBody } from '../../../schemas/subscription-requests.ts';
import {
  getCouponByCode,
  insertCouponAssociation,
  lockCoupons,
  updateCouponRow,
} from '../../catalog/coupons/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import type { BilledLine } from '../computing/billing-sources.ts';
import { changed, newRecord, type Caller } from '../../conventions/record.ts';
import { lineOfPrice } from './line-of-price.ts';
import type { NewSubscription } from '../records/subscription-repository.ts';

/** One requested coupon; `path` is its place in the request. */
interface Wanted {
  readonly coupon_id: string;
  readonly path: string;
  /** The price whose line item gets the coupon; null means the subscription. */
  readonly price_id: string | null;
  readonly start_date: string | null;
  readonly end_date: string | null;
}

/**
 * The coupons of a new subscription as associations, redeemed under the coupons' locks: each association
 * counts once, never beyond the coupon's limit (billing 7.1). This function only locks;
 * `writeAssociations` writes, after the subscription.
 */
export async function newAssociations(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  draft: NewSubscription,
  lines: readonly BilledLine[],
  body: CreateSubscriptionBody,
): Promise<CouponAssociation[]> {
  const wanted = await wantedCoupons(tx, caller, body);
  if (wanted.length === 0) return [];
  const ids = [...new Set(wanted.map(({ coupon_id }) => coupon_id))];
  const coupons = new Map(
    (await lockCoupons(tx, caller.scope, ids)).map((coupon) => [coupon.id, coupon]),
  );
  const at = isoTime(deps.clock.now());
  const taken = new Set<string>();
  return wanted.map((request) => {
    const coupon = coupons.get(request.coupon_id);
    if (coupon === undefined) throw notFound('Coupon', request.coupon_id);
    const line =
      request.price_id === null ? null : lineOfPrice(lines, request.price_id, request.path);
    const target = `${coupon.id} ${line?.id ?? ''}`;
    if (taken.has(target)) throw invalidField(request.path, 'the coupon is attached there already');
    taken.add(target);
    const total_redemptions = redeem(coupon, at, draft.currency, request.path);
    const redeemed: Coupon = { ...coupon, total_redemptions };
    coupons.set(coupon.id, redeemed);
    return {
      ...newRecord(deps, caller, 'coupon_assoc'),
      coupon_id: coupon.id,
      coupon: redeemed,
      subscription_id: draft.id,
      subscription_line_item_id: line?.id ?? null,
      subscription_phase_id: null,
      ...windowOf(coupon, draft, request),
      metadata: {},
    };
  });
}

/** Writes associations and their redemptions. The caller holds the coupons' locks and has written the subscription. */
export async function writeAssociations(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  associations: readonly CouponAssociation[],
): Promise<void> {
  const totals = new Map(
    associations.map(({ coupon_id, coupon }) => [coupon_id, coupon!.total_redemptions]),
  );
  for (const [id, total_redemptions] of totals)
    await updateCouponRow(tx, caller.scope, id, { total_redemptions, ...changed(deps, caller) });
  for (const { coupon: _, ...association } of associations)
    await insertCouponAssociation(tx, association);
}

async function wantedCoupons(
  tx: Transaction,
  { scope }: Caller,
  body: CreateSubscriptionBody,
): Promise<Wanted[]> {
  const forever = { start_date: null, end_date: null };
  const named = (body.coupons ?? []).map((coupon_id, index) => ({
    coupon_id,
    path: `coupons[${index}]`,
    price_id: null,
    ...forever,
  }));
  const ofLines = Object.entries(body.line_item_coupons ?? {}).flatMap(([price_id, ids]) =>
    ids.map((coupon_id, index) => ({
      coupon_id,
      path: `line_item_coupons.${price_id}[${index}]`,
      price_id,
      ...forever,
    })),
  );
  const byCode: Wanted[] = [];
  for (const [index, request] of (body.subscription_coupons ?? []).entries()) {
    const { id } = await getCouponByCode(tx, scope, request.coupon_code);
    byCode.push({
      coupon_id: id,
      path: `subscription_coupons[${index}]`,
      price_id: request.price_id ?? null,
      start_date: request.start_date ?? null,
      end_date: request.end_date ?? null,
    });
  }
  return [...named, ...ofLines, ...byCode];
}

function windowOf(coupon: Coupon, draft: NewSubscription, { start_date, end_date, path }: Wanted) {
  const start = start_date ?? draft.start_date;
  if (end_date !== null && end_date <= start)
    throw invalidField(`${path}.end_date`, 'must be after the start');
  // A trial is never billed: it uses up none of the periods of a repeated coupon.
  const paid = draft.trial_end === null ? draft : scheduleAfterTrial(draft, draft.trial_end);
  return associationWindow(coupon, paid, start, end_date);
}
