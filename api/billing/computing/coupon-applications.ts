import {
  couponsInForce,
  type CouponAssociation as AttachedCoupon,
} from '../../../domain/invoicing/coupon-association.ts';
import type {
  CouponApplication as ComputedApplication,
  InvoiceCoupon,
} from '../../../domain/invoicing/coupons.ts';
import { movedByPause } from '../../../domain/subscription/unpaused-time.ts';
import { keptDiscounts } from '../../../domain/invoicing/draft-edits.ts';
import type { Coupon, CouponAssociation } from '../../../schemas/coupon.ts';
import type {
  CouponApplication,
  InvoiceLineRecord,
  InvoiceRecord,
} from '../../../schemas/invoice.ts';
import type { BillingDeps } from '../../deps.ts';
import type { BillingSources } from './billing-sources.ts';
import type { InvoiceTarget } from './invoice-target.ts';

/**
 * The coupons that apply to a computed invoice (billing 7.2). Without an invoice nothing uses up a coupon that counts
 * once, so `recurringOnly` leaves those out.
 */
export function couponsOf(
  target: Pick<InvoiceTarget, 'subscription' | 'invoice' | 'replaces' | 'resumed'>,
  sources: BillingSources,
  recurringOnly = false,
): InvoiceCoupon[] {
  const { id } = target.subscription;
  const associations = attachedCoupons(sources, id)
    .filter(({ cadence }) => !recurringOnly || cadence !== 'once')
    .map((association) => resumedCoupon(association, target, sources));
  const own = target.replaces ?? target.invoice?.id ?? null;
  return couponsInForce(associations, sources.couponUses.get(id) ?? [], own);
}

/** The coupon with the end that the resumption moves: it counts as many periods as without the pause (billing 12.4). */
function resumedCoupon(
  association: AttachedCoupon,
  { subscription: after, resumed: before }: Parameters<typeof couponsOf>[0],
  sources: BillingSources,
): AttachedCoupon {
  const { cadence, end_date } = association;
  const start = before?.pause_at;
  if (before === undefined || start == null || cadence !== 'repeated') return association;
  if (end_date === null || end_date <= start) return association;
  const pauses = sources.pauses.get(before.id) ?? [];
  const earlier = pauses.filter((pause) => pause.start < start);
  const moved = movedByPause({ before, after }, { start, end: before.due_at! }, earlier);
  return { ...association, end_date: moved(end_date) };
}

/** The coupons of the subscription and of its line items, including used-up ones. */
export const attachedCoupons = (
  sources: Pick<BillingSources, 'coupons'>,
  subscriptionId: string,
): AttachedCoupon[] =>
  (sources.coupons.get(subscriptionId) ?? []).flatMap(({ coupon, ...association }) =>
    coupon === null
      ? []
      : {
          coupon_id: coupon.id,
          coupon_association_id: association.id,
          type: coupon.type,
          cadence: coupon.cadence,
          percentage_off: coupon.type === 'percentage' ? coupon.percentage_off : null,
          amount_off: coupon.type === 'fixed' ? coupon.amount_off : null,
          subscription_id: association.subscription_id,
          subscription_line_item_id: association.subscription_line_item_id,
          first_association_id: association.first_association_id ?? null,
          start_date: association.start_date,
          end_date: association.end_date,
        },
  );

/** A coupon that a discount may come from. */
export type KnownCoupon = Pick<CouponAssociation, 'coupon_id' | 'coupon'> & {
  readonly id: string | null;
};

/** The discounts of a computed invoice as stored; a discount that existed before keeps its id. */
export function applicationRecords(
  deps: Pick<BillingDeps, 'ids'>,
  invoice: InvoiceRecord,
  applications: readonly ComputedApplication[],
  known: {
    /** An id of null: a coupon that the invoice names, without an association. */
    readonly coupons: readonly KnownCoupon[];
    readonly lines: readonly InvoiceLineRecord[];
    readonly stored: readonly CouponApplication[];
  },
): CouponApplication[] {
  return applications.map((application) => {
    const before = known.stored.find(
      (record) =>
        record.coupon_association_id === application.coupon_association_id &&
        record.coupon_id === application.coupon_id &&
        record.invoice_line_item_id === application.invoice_line_item_id,
    );
    const row = known.lines.find(({ id }) => id === application.invoice_line_item_id);
    const association = known.coupons.find(
      ({ id, coupon_id }) =>
        id === application.coupon_association_id && coupon_id === application.coupon_id,
    );
    return {
      id: before?.id ?? deps.ids.next('coupon_app'),
      tenant_id: invoice.tenant_id,
      environment_id: invoice.environment_id,
      status: 'published',
      created_at: before?.created_at ?? invoice.updated_at,
      updated_at: invoice.updated_at,
      created_by: before?.created_by ?? invoice.updated_by,
      updated_by: invoice.updated_by,
      invoice_id: invoice.id,
      ...application,
      discount_percentage: application.discount_percentage ?? '0',
      shares: [...application.shares],
      coupon_snapshot: {
        ...association?.coupon,
        applied_to: row === undefined ? 'invoice' : 'line_item',
        line_item_id: row?.id ?? null,
        price_id: row?.price_id ?? null,
      },
      currency: invoice.currency,
      applied_at: invoice.updated_at,
      metadata: {},
    };
  });
}

/**
 * The discounts of an invoice that is issued unchanged: each keeps its amount (billing 17.6) and is
 * explained by the terms its coupon had.
 */
export const storedDiscounts = (
  { coupon_applications }: Pick<InvoiceRecord, 'coupon_applications'>,
  renamed: ReadonlyMap<string, string> = new Map(),
): InvoiceCoupon[] =>
  keptDiscounts(coupon_applications, renamed).map((discount, index) => {
    const { amount_off } = coupon_applications[index]!.coupon_snapshot;
    if (discount.type !== 'fixed' || typeof amount_off !== 'string') return discount;
    return { ...discount, amount_off, percentage_off: null };
  });

/** The coupons of the discounts that an invoice has, as they were when they were applied. */
export const storedCoupons = ({
  coupon_applications,
}: Pick<InvoiceRecord, 'coupon_applications'>): KnownCoupon[] =>
  coupon_applications.map(({ coupon_id, coupon_association_id, coupon_snapshot }) => {
    const { applied_to: _, line_item_id: __, price_id: ___, ...coupon } = coupon_snapshot;
    return { id: coupon_association_id, coupon_id, coupon: coupon as unknown as Coupon };
  });

/**
 * The coupons that a one-off invoice names, with their terms: they discount its rows again. `renamed` follows
 * rows with new ids.
 */
export const namedCoupons = (
  { coupon_applications }: Pick<InvoiceRecord, 'coupon_applications'>,
  renamed: ReadonlyMap<string, string>,
): InvoiceCoupon[] =>
  storedDiscounts({ coupon_applications }, renamed).map(({ kept, ...coupon }) => ({
    ...coupon,
    ...(kept?.level === 'line_item' ? { invoice_line_item_ids: kept.invoice_line_item_ids } : {}),
  }));
