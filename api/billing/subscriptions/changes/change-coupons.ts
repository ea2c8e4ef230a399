import {
  BillingError,
  invalidField,
  invalidOperation,
  notFound,
} from '../../../../domain/errors.ts';
import { associationWindow } from '../../../../domain/invoicing/coupon-association.ts';
import { redeem } from '../../../../domain/invoicing/coupon-gate.ts';
import { paidSchedule } from '../../../../domain/subscription/schedule.ts';
import { laterOf } from '../../../../domain/time/instant.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import type { Coupon } from '../../../../schemas/coupon.ts';
import type { CouponChangeParams } from '../../../../schemas/subscription-modify.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import {
  findCouponAssociationsOf,
  firstAssociationOf,
  getCouponByCode,
  insertCouponAssociation,
  lockCoupons,
  updateCouponAssociationRow,
  updateCouponRow,
} from '../../../catalog/coupons/repository.ts';
import { changed, newRecord, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { firstLineOf } from '../../records/line-versions.ts';
import { lineItemsOf } from '../../records/subscription-repository.ts';

const PATH = 'coupon_params';

/** Attaches a coupon to a subscription or one of its lines, or ends an association (billing 7.1). */
export async function changeCoupons(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  params: CouponChangeParams,
  at: string,
): Promise<void> {
  if (params.action === 'add') await addCoupon(tx, deps, caller, subscription, params, at);
  else await endCoupon(tx, deps, caller, subscription, params, at);
}

async function addCoupon(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  params: CouponChangeParams,
  at: string,
): Promise<void> {
  const { scope } = caller;
  if (!params.coupon_code) throw invalidField(`${PATH}.coupon_code`, 'is required with add');
  if (params.coupon_association_id)
    throw invalidField(`${PATH}.coupon_association_id`, 'is for remove; add makes an association');
  const coupon = await couponOf(tx, caller, params.coupon_code);
  const lineId = params.subscription_line_item_id ?? null;
  const versions = lineId === null ? [] : await versionsOf(tx, caller, subscription, lineId);
  const start = params.start_date ?? at;
  if (params.end_date && params.end_date <= start)
    throw invalidField(`${PATH}.end_date`, 'must be after the start');
  const window = associationWindow(
    coupon,
    paidSchedule(subscription),
    start,
    params.end_date ?? null,
  );
  const attached = await findCouponAssociationsOf(tx, scope, [subscription.id]);
  const isAttached = attached.some(
    (other) =>
      other.coupon_id === coupon.id &&
      other.subscription_line_item_id === lineId &&
      (other.end_date === null || other.end_date > start) &&
      (window.end_date === null || other.start_date < window.end_date),
  );
  if (isAttached) throw invalidField(`${PATH}.coupon_code`, 'the coupon is attached there already');
  const total_redemptions = redeem(coupon, at, subscription.currency, `${PATH}.coupon_code`);
  await updateCouponRow(tx, scope, coupon.id, { total_redemptions, ...changed(deps, caller) });
  const earlier = attached.find(
    (other) =>
      other.coupon_id === coupon.id && versions.includes(other.subscription_line_item_id ?? ''),
  );
  await insertCouponAssociation(tx, {
    ...newRecord(deps, caller, 'coupon_assoc'),
    coupon_id: coupon.id,
    subscription_id: subscription.id,
    subscription_line_item_id: lineId,
    subscription_phase_id: null,
    first_association_id: earlier === undefined ? null : firstAssociationOf(earlier),
    ...window,
    metadata: {},
  });
}

/** Ids of the line and of all its other versions. */
async function versionsOf(
  tx: Transaction,
  { scope }: Caller,
  { id }: SubscriptionRow,
  lineId: string,
): Promise<string[]> {
  const lines = await lineItemsOf(tx, scope, [id]);
  const line = lines.find((other) => other.id === lineId);
  if (line === undefined) throw notFound('Subscription line item', lineId);
  const first = firstLineOf(line);
  return lines.filter((other) => firstLineOf(other) === first).map((other) => other.id);
}

/** Locks the coupon. An unknown code is 400 on the field and not 404, as recorded. */
async function couponOf(tx: Transaction, { scope }: Caller, code: string): Promise<Coupon> {
  try {
    const { id } = await getCouponByCode(tx, scope, code);
    const [coupon] = await lockCoupons(tx, scope, [id]);
    return coupon!;
  } catch (error) {
    if (error instanceof BillingError && error.kind === 'not_found')
      throw invalidField(`${PATH}.coupon_code`, `no published coupon has the code ${code}`);
    throw error;
  }
}

async function endCoupon(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  params: CouponChangeParams,
  at: string,
): Promise<void> {
  const id = params.coupon_association_id;
  if (!id) throw invalidField(`${PATH}.coupon_association_id`, 'is required with remove');
  for (const field of ['coupon_code', 'subscription_line_item_id', 'start_date'] as const)
    if (params[field] != null) throw invalidField(`${PATH}.${field}`, 'has no effect with remove');
  const attached = await findCouponAssociationsOf(tx, caller.scope, [subscription.id]);
  const association = attached.find((candidate) => candidate.id === id);
  if (association === undefined) throw notFound('Coupon association', id);
  if (association.end_date !== null && association.end_date <= at)
    throw invalidOperation(
      `Coupon association ${id} ended at ${association.end_date}.`,
      'end_date',
    );
  const end_date = laterOf(params.end_date ?? at, association.start_date);
  const ended = { end_date, ...changed(deps, caller) };
  await updateCouponAssociationRow(tx, caller.scope, id, ended);
}
