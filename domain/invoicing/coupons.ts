import { allocate, roundToCurrency, type Currency } from '../currency.ts';
import { Decimal, decimal, decimalText, sum, ZERO } from '../money.ts';
import { epochMs } from '../time/instant.ts';
import { byText } from '../text-order.ts';
import { overlaps } from './service-window.ts';
import { lineAmount, type InvoiceRow } from './invoice-row.ts';

/** A coupon of the invoice: an association, or a coupon named by a one-off invoice. */
export interface InvoiceCoupon {
  readonly coupon_id: string;
  readonly coupon_association_id: string | null;
  readonly type: 'percentage' | 'fixed';
  /** Greater than 0, at most 100; decimal text. */
  readonly percentage_off: string | null;
  /** In the invoice's currency; decimal text. */
  readonly amount_off: string | null;
  /** A subscription-level coupon discounts only rows of this subscription. Null means every row (one-off). */
  readonly subscription_id: string | null;
  /** Not null means a line-level coupon of this line item. */
  readonly subscription_line_item_id: string | null;
  /**
   * On a line-level coupon that continues on the next version of its line, or was removed and added again: the first
   * association of these. They have one discount on an invoice (billing 7.3). Absent or null: it is the first one. A
   * coupon of a subscription needs none: its associations all name the same subscription.
   */
  readonly first_association_id?: string | null;
  /** The rows that a coupon of a one-off invoice discounts, as a line-level coupon; absent means every row. */
  readonly invoice_line_item_ids?: ReadonlySet<string>;
  /** Window of the association, half-open. A null bound is open. */
  readonly start_date: string | null;
  readonly end_date: string | null;
  /**
   * Set for a discount that an edited draft keeps (`keptDiscounts`): its amount and its rows. Replaces the
   * terms, scope and window of the coupon.
   */
  readonly kept?: {
    readonly amount: string;
    readonly level: 'line_item' | 'invoice';
    readonly invoice_line_item_ids: ReadonlySet<string>;
  };
}

/** One application, amounts as decimal text (interface, coupon application). */
export interface CouponApplication {
  readonly coupon_id: string;
  readonly coupon_association_id: string | null;
  readonly subscription_id: string | null;
  /** The discounted row. Null when the discount is allocated over the invoice. */
  readonly invoice_line_item_id: string | null;
  readonly discount_type: 'percentage' | 'fixed';
  readonly discount_percentage: string | null;
  /** `original_price` and `final_price`: the base before and after the discount. */
  readonly original_price: string;
  readonly discounted_amount: string;
  readonly final_price: string;
  /** Share of each row in the discount, in the order of the rows. */
  readonly shares: readonly { readonly invoice_line_item_id: string; readonly amount: string }[];
}

/** One coupon applied to its rows, with the figures of the computation. */
export interface CouponUse {
  /** The latest of the associations that discount one of the rows. */
  readonly coupon: InvoiceCoupon;
  readonly level: 'line_item' | 'invoice';
  readonly base: Decimal;
  /** Rest of the subtotal after earlier coupons. */
  readonly subtotalLeft: Decimal;
  readonly discount: Decimal;
  /**
   * `row` is the index among the invoice's rows, `before` the rest of the row before this coupon. `coupon`: on a
   * line-level discount, the latest association that discounts the row.
   */
  readonly shares: readonly {
    readonly row: number;
    readonly coupon: InvoiceCoupon;
    readonly before: Decimal;
    readonly amount: Decimal;
  }[];
}

export interface Discounts {
  readonly uses: readonly CouponUse[];
  readonly applications: readonly CouponApplication[];
  /** One for each row, in the order of the rows. */
  readonly lineItemDiscounts: readonly Decimal[];
  readonly invoiceLevelDiscounts: readonly Decimal[];
}

/** Discount of a coupon on a base: rounded, at most the base (billing 7.3 step 2). */
export function couponDiscount(
  coupon: Pick<InvoiceCoupon, 'type' | 'percentage_off' | 'amount_off' | 'kept'>,
  base: Decimal,
  currency: Currency,
): Decimal {
  const amountOff = coupon.kept?.amount ?? (coupon.type === 'fixed' ? coupon.amount_off : null);
  const off =
    amountOff === null ? base.times(decimal(coupon.percentage_off!)).div(100) : decimal(amountOff);
  return Decimal.min(roundToCurrency(off, currency), base);
}

/**
 * Discounts of an invoice (billing 7.3). Line-level coupons come first, then the others, each group
 * by (start_date, association id). Each coupon applies to the rest after the coupons before it. A row is
 * discounted when its own service window overlaps the window of the association (7.2); credit rows never are.
 * The discounts together never exceed the subtotal. A coupon without anything to discount is not applied.
 */
export function applyCoupons(
  lines: readonly InvoiceRow[],
  coupons: readonly InvoiceCoupon[],
  currency: Currency,
): Discounts {
  const net = lines.map((line) => lineAmount(line, currency));
  const lineItemDiscounts = lines.map(() => ZERO);
  const invoiceLevelDiscounts = lines.map(() => ZERO);
  const uses: CouponUse[] = [];
  let headroom = Decimal.max(sum(net), ZERO);

  for (const { associations, rows: eligible } of oneDiscountEach(lines, inOrder(coupons))) {
    const rows = eligible.filter((row) => net[row]!.gt(0));
    const weights = rows.map((row) => net[row]!);
    const base = sum(weights);
    if (base.isZero() || headroom.isZero()) continue;
    const coupon = latestOf(
      rows.map((row) => lines[row]!),
      associations,
    );

    const discount = Decimal.min(couponDiscount(coupon, base, currency), headroom);
    const parts = allocate(discount, weights, currency);
    const level = isLineLevel(coupon) ? 'line_item' : 'invoice';
    const column = level === 'line_item' ? lineItemDiscounts : invoiceLevelDiscounts;
    const shares = rows.map((row, index) => ({
      row,
      coupon: level === 'invoice' ? coupon : latestOf([lines[row]!], associations),
      before: weights[index]!,
      amount: parts[index]!,
    }));
    uses.push({ coupon, level, base, subtotalLeft: headroom, discount, shares });
    for (const { row, before, amount } of shares) {
      column[row] = column[row]!.plus(amount);
      net[row] = before.minus(amount);
    }
    headroom = headroom.minus(discount);
  }
  const applications = uses.flatMap((use) => applicationRows(use, lines));
  return { uses, applications, lineItemDiscounts, invoiceLevelDiscounts };
}

/** Associations of a coupon that have one discount, in their order, and the rows that any of them discounts. */
interface EligibleRows {
  readonly associations: InvoiceCoupon[];
  rows: readonly number[];
}

/**
 * The rows of each coupon. Associations of a coupon to a line and its versions have one discount, and so have those of
 * a coupon that ended and was added again to the same subscription: a coupon that is removed and added again discounts
 * an invoice as if it had stayed, only not the rows of the time between (billing 7.3).
 */
function oneDiscountEach(
  lines: readonly InvoiceRow[],
  coupons: readonly InvoiceCoupon[],
): readonly EligibleRows[] {
  const found: EligibleRows[] = [];
  for (const coupon of coupons) {
    const rows = lines.flatMap((line, row) => (isDiscounted(line, coupon) ? [row] : []));
    const known = found.find(({ associations }) =>
      associations.some((one) => haveSameFirst(one, coupon) || isAgain(one, coupon)),
    );
    if (known === undefined) found.push({ associations: [coupon], rows });
    else {
      known.associations.push(coupon);
      known.rows = merged(known.rows, rows);
    }
  }
  return found;
}

/** The latest of the associations that discounts one of the rows. */
const latestOf = (
  rows: readonly InvoiceRow[],
  associations: readonly InvoiceCoupon[],
): InvoiceCoupon =>
  associations.findLast((coupon) => rows.some((line) => isDiscounted(line, coupon)))!;

const merged = (rows: readonly number[], others: readonly number[]): number[] =>
  [...new Set([...rows, ...others])].sort((left, right) => left - right);

const haveSameFirst = (one: InvoiceCoupon, other: InvoiceCoupon): boolean =>
  (one.kept ?? other.kept) === undefined &&
  (one.first_association_id ?? other.first_association_id) != null &&
  firstAssociationOf(one) === firstAssociationOf(other);

const firstAssociationOf = (coupon: InvoiceCoupon): string | null =>
  coupon.first_association_id ?? coupon.coupon_association_id;

/** Whether a coupon of the same target ended before it was added again. */
const isAgain = (earlier: InvoiceCoupon, later: InvoiceCoupon): boolean =>
  earlier.end_date !== null &&
  later.start_date !== null &&
  epochMs(earlier.end_date) <= epochMs(later.start_date) &&
  (earlier.kept ?? later.kept) === undefined &&
  earlier.coupon_id === later.coupon_id &&
  earlier.subscription_id === later.subscription_id &&
  earlier.subscription_line_item_id === later.subscription_line_item_id;

const isLineLevel = (coupon: InvoiceCoupon) =>
  coupon.kept === undefined
    ? coupon.subscription_line_item_id !== null || coupon.invoice_line_item_ids !== undefined
    : coupon.kept.level === 'line_item';

/**
 * Line-level coupons first, then by age of the association, then by id (billing 7.3 step 1).
 * Coupons without an association keep their given order.
 */
function inOrder(coupons: readonly InvoiceCoupon[]): InvoiceCoupon[] {
  return [...coupons].sort(
    (left, right) =>
      Number(isLineLevel(right)) - Number(isLineLevel(left)) ||
      byText(left.start_date ?? '', right.start_date ?? '') ||
      (left.start_date === null
        ? 0
        : byText(left.coupon_association_id ?? '', right.coupon_association_id ?? '')),
  );
}

function isDiscounted(line: InvoiceRow, coupon: InvoiceCoupon): boolean {
  if (line.kind === 'credit') return false;
  if (coupon.kept !== undefined) return coupon.kept.invoice_line_item_ids.has(line.id);
  if (coupon.invoice_line_item_ids !== undefined) return coupon.invoice_line_item_ids.has(line.id);
  if (!overlaps(line.period_start, line.period_end, coupon.start_date, coupon.end_date)) {
    return false;
  }
  return isLineLevel(coupon)
    ? line.subscription_line_item_id === coupon.subscription_line_item_id
    : isOf(line, coupon);
}

/** A coupon of a child subscription discounts only the child's rows (billing 7.3). */
const isOf = (line: InvoiceRow, coupon: InvoiceCoupon) =>
  coupon.subscription_id === null || line.subscription_id === coupon.subscription_id;

/** A line-level coupon gives one application per row, any other coupon one for the invoice. */
function applicationRows(use: CouponUse, lines: readonly InvoiceRow[]): CouponApplication[] {
  const shares = use.shares.map(({ row, amount }) => ({
    invoice_line_item_id: lines[row]!.id,
    amount: decimalText(amount),
  }));
  if (use.level === 'invoice') return [application(use, null, use.base, use.discount, shares)];
  return use.shares.map(({ row, coupon, before, amount }, index) =>
    application({ coupon }, lines[row]!.id, before, amount, [shares[index]!]),
  );
}

const application = (
  { coupon }: Pick<CouponUse, 'coupon'>,
  lineId: string | null,
  base: Decimal,
  discount: Decimal,
  shares: CouponApplication['shares'],
): CouponApplication => ({
  coupon_id: coupon.coupon_id,
  coupon_association_id: coupon.coupon_association_id,
  subscription_id: coupon.subscription_id,
  invoice_line_item_id: lineId,
  discount_type: coupon.type,
  discount_percentage: coupon.type === 'percentage' ? coupon.percentage_off : null,
  original_price: decimalText(base),
  discounted_amount: decimalText(discount),
  final_price: decimalText(base.minus(discount)),
  shares,
});
