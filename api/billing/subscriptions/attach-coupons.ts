import { invalidField, notFound } from '../../../domain/errors.ts';
import { associationWindow } from '../../../domain/invoicing/coupon-association.ts';
import { redeem } from '../../../domain/invoicing/coupon-gate.ts';
import { scheduleAfterTrial } from '../../../domain/subscription/schedule.ts';
import { earlierOf, laterOf } from '../../../domain/time/instant.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { Coupon, CouponAssociation } from '../../../schemas/coupon.ts';
import type { CreateSubscriptionBody } from '../../../schemas/subscription-requests.ts';
import type { SubscriptionPhase } from '../../../schemas/subscription-phase.ts';
import {
  getCouponByCode,
  insertCouponAssociations,
  lockCoupons,
  updateCouponRow,
} from '../../catalog/coupons/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import type { BilledLine } from '../computing/billing-sources.ts';
import { changed, newRecord, type Caller } from '../../conventions/record.ts';
import { lineOfPrice } from './line-of-price.ts';
import type { NewSubscription } from '../records/subscription-repository.ts';

/** One requested coupon; `path` is its path in the request. */
interface Wanted {
  readonly coupon_id: string;
  readonly path: string;
  /** The price whose line item gets the coupon; null means the subscription. */
  readonly price_id: string | null;
  readonly start_date: string | null;
  readonly end_date: string | null;
  /** The phase in which the coupon applies; null means the whole subscription. */
  readonly phase: SubscriptionPhase | null;
}

/** The part of a request that names coupons: the subscription's, or that of one of its phases. */
type CouponsRequest = Pick<
  CreateSubscriptionBody,
  'coupons' | 'line_item_coupons' | 'subscription_coupons'
>;

/** Coupons of a phase, with the phase's path in the request followed by a dot. */
export interface PhaseOfCoupons {
  readonly phase: SubscriptionPhase;
  readonly request: CouponsRequest;
  readonly within: string;
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
  body: CouponsRequest,
  phases: readonly PhaseOfCoupons[] = [],
): Promise<CouponAssociation[]> {
  const wanted = await wantedCoupons(tx, caller, { phase: null, request: body, within: '' });
  for (const phase of phases) wanted.push(...(await wantedCoupons(tx, caller, phase)));
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
    const { phase } = request;
    const own = phase === null ? lines : lines.filter((known) => isOf(known, phase));
    const line =
      request.price_id === null ? null : lineOfPrice(own, request.price_id, request.path);
    const target = `${coupon.id} ${line?.id ?? ''} ${phase?.id ?? ''}`;
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
      subscription_phase_id: phase?.id ?? null,
      ...windowOf(coupon, draft, request),
      metadata: {},
    };
  });
}

const isOf = (line: BilledLine, phase: SubscriptionPhase): boolean =>
  line.subscription_phase_id === phase.id;

/**
 * Writes associations and their redemptions. The caller holds the coupons' locks and has written the
 * subscription.
 */
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
  await insertCouponAssociations(
    tx,
    associations.map(({ coupon: _, ...association }) => association),
  );
}

async function wantedCoupons(
  tx: Transaction,
  { scope }: Caller,
  {
    phase,
    request,
    within,
  }: Omit<PhaseOfCoupons, 'phase'> & { readonly phase: SubscriptionPhase | null },
): Promise<Wanted[]> {
  const always = { start_date: null, end_date: null, phase };
  const named = (request.coupons ?? []).map((coupon_id, index) => ({
    coupon_id,
    path: `${within}coupons[${index}]`,
    price_id: null,
    ...always,
  }));
  const ofLines = Object.entries(request.line_item_coupons ?? {}).flatMap(([price_id, ids]) =>
    ids.map((coupon_id, index) => ({
      coupon_id,
      path: `${within}line_item_coupons.${price_id}[${index}]`,
      price_id,
      ...always,
    })),
  );
  const byCode: Wanted[] = [];
  for (const [index, coupon] of (request.subscription_coupons ?? []).entries()) {
    const { id } = await getCouponByCode(tx, scope, coupon.coupon_code);
    byCode.push({
      coupon_id: id,
      path: `${within}subscription_coupons[${index}]`,
      price_id: coupon.price_id ?? null,
      start_date: coupon.start_date ?? null,
      end_date: coupon.end_date ?? null,
      phase,
    });
  }
  return [...named, ...ofLines, ...byCode];
}

/** The time in which the coupon applies, cut to the time of its phase if it has one (billing 11). */
function windowOf(coupon: Coupon, draft: NewSubscription, request: Wanted) {
  const { end_date, phase, path } = request;
  const start = laterOf(request.start_date ?? draft.start_date, phase?.start_date ?? null);
  if (end_date !== null && end_date <= start)
    throw invalidField(`${path}.end_date`, 'must be after the start');
  // A trial is never billed, so it uses no periods of a repeated coupon.
  const paid = draft.trial_end === null ? draft : scheduleAfterTrial(draft, draft.trial_end);
  const window = associationWindow(coupon, paid, start, end_date);
  const last = phase?.end_date ?? null;
  if (last === null) return window;
  return {
    ...window,
    end_date: window.end_date === null ? last : earlierOf(last, window.end_date),
  };
}
