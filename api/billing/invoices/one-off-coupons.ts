import { invalidField } from '../../../domain/errors.ts';
import { redeem } from '../../../domain/invoicing/coupon-gate.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { Coupon } from '../../../schemas/coupon.ts';
import type { CreateInvoiceBody } from '../../../schemas/invoice-requests.ts';
import { lockCoupons, updateCouponRow } from '../../catalog/coupons/repository.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import type { GivenCoupon, GivenRow } from '../computing/invoice-of-rows.ts';

interface Wanted {
  readonly coupon_id: string;
  /** Path of the coupon in the request. */
  readonly path: string;
  readonly rows: readonly number[] | null;
}

/**
 * Redeems the coupons of a one-off invoice under their locks, each once, even if it applies to several rows
 * (billing 7.1). Refuses the invoice if a coupon cannot be redeemed.
 */
export async function redeemedCoupons(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreateInvoiceBody,
  rows: readonly GivenRow[],
): Promise<GivenCoupon[]> {
  const wanted = wantedCoupons(body, rows);
  const ids = [...new Set(wanted.map(({ coupon_id }) => coupon_id))];
  const coupons = new Map(
    (await lockCoupons(tx, caller.scope, ids)).map((coupon) => [coupon.id, coupon]),
  );
  const at = isoTime(deps.clock.now());
  const redeemed = new Map<string, Coupon>();
  const given = wanted.map(({ coupon_id, path, rows: of }) => {
    const coupon = coupons.get(coupon_id);
    if (coupon === undefined) throw invalidField(path, `there is no coupon ${coupon_id}`);
    const known = redeemed.get(coupon_id);
    const counted: Coupon = known ?? {
      ...coupon,
      total_redemptions: redeem(coupon, at, body.currency, path),
    };
    redeemed.set(coupon_id, counted);
    return { coupon: counted, rows: of };
  });
  for (const { id, total_redemptions } of redeemed.values())
    await updateCouponRow(tx, caller.scope, id, { total_redemptions, ...changed(deps, caller) });
  return given;
}

function wantedCoupons(body: CreateInvoiceBody, rows: readonly GivenRow[]): Wanted[] {
  const whole = [
    ...(body.coupons ?? []).map((coupon_id, index) => ({ coupon_id, path: `coupons[${index}]` })),
    ...(body.invoice_coupons ?? []).map(({ coupon_id }, index) => ({
      coupon_id,
      path: `invoice_coupons[${index}].coupon_id`,
    })),
  ];
  const ofRows = (body.line_item_coupons ?? []).map(({ coupon_id, line_item_id }, index) => ({
    coupon_id,
    path: `line_item_coupons[${index}].coupon_id`,
    rows: rowsOfPrice(rows, line_item_id, `line_item_coupons[${index}].line_item_id`),
  }));
  const wanted = [...ofRows, ...whole.map((coupon) => ({ ...coupon, rows: null }))];
  const seen = new Set<string>();
  for (const { coupon_id, path, rows: of } of wanted) {
    const target = `${coupon_id} ${of?.join(',') ?? ''}`;
    if (seen.has(target)) throw invalidField(path, 'the coupon is named there already');
    seen.add(target);
  }
  return wanted;
}

function rowsOfPrice(rows: readonly GivenRow[], priceId: string, path: string): number[] {
  const found = rows.flatMap((row, index) => (row.price_id === priceId ? [index] : []));
  if (found.length === 0) throw invalidField(path, 'is not the price_id of a row of this invoice');
  return found;
}
