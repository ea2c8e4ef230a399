import type { CouponTerms } from './coupon-terms.ts';
import { periodEnd, segmentAt, type Subscription } from './expected-charge.ts';
import type { Invoice } from './records.ts';
import { share } from './taxes.ts';

/** What a coupon discounts: the subscription, its fee, or its usage. */
export type Target = 'fee' | 'usage' | null;

/** A coupon that is attached to a subscription from a time to another, exclusive; null runs on. */
export interface Attached {
  readonly coupon: CouponTerms;
  readonly target: Target;
  /** Plans that the subscription had before: the coupon of a fee ends with its plan. */
  readonly segment: number;
  readonly start: string;
  end: string | null;
  /** The invoice that used it, if it counts once. */
  usedBy: Invoice | null;
}

/** A row before its discounts. The time of its service is half-open; equal times are an instant. */
export interface Row {
  readonly target: Target;
  readonly segment: number;
  readonly start: string;
  readonly end: string;
  readonly amount: number;
}

export interface Discounted {
  /** Of each row, in their order. */
  readonly nets: readonly number[];
  readonly used: readonly Attached[];
}

/** A coupon attached from a time on; a repeated one ends with its last billing period (billing 7.2). */
export function attachedTo(
  subscription: Subscription,
  coupon: CouponTerms,
  target: Target,
  start: string,
): Attached {
  let end = start;
  for (let left = coupon.periods; left > 0; left -= 1) end = periodEnd(subscription, end);
  return {
    coupon,
    target,
    segment: segmentAt(subscription, start),
    start,
    end: coupon.cadence === 'repeated' ? end : null,
    usedBy: null,
  };
}

/** Coupons of lines first, then those of the subscription, each on what is left (billing 7.3). */
export function discount(rows: readonly Row[], attached: readonly Attached[]): Discounted {
  const nets = rows.map(({ amount }) => amount);
  const used: Attached[] = [];
  for (const { coupon, covers } of inOrder(rows, attached)) {
    const eligible = [...covers.keys()].filter((index) => nets[index]! > 0).sort((a, b) => a - b);
    const base = eligible.reduce((sum, index) => sum + nets[index]!, 0);
    if (base === 0) continue;
    const parts = split(
      discountOf(coupon, base),
      eligible.map((index) => nets[index]!),
    );
    eligible.forEach((index, part) => {
      nets[index] = nets[index]! - parts[part]!;
    });
    used.push(...new Set(covers.values()));
  }
  return { nets, used };
}

/** What a coupon takes off an amount. */
export const discountOf = ({ type, off }: CouponTerms, base: number): number =>
  Math.min(type === 'fixed' ? off : share(base, off, 10_000), base);

interface Application {
  readonly coupon: CouponTerms;
  readonly target: Target;
  /** The rows, each with what discounts it. */
  readonly covers: Map<number, Attached>;
}

/** One that was removed and added again discounts a row once (billing 7.2). Each row of usage is a line of its own. */
function inOrder(rows: readonly Row[], attached: readonly Attached[]): Application[] {
  const found: Application[] = [];
  const sorted = [...attached].sort(
    (a, b) =>
      Number(a.target === null) - Number(b.target === null) || (a.start < b.start ? -1 : a.start > b.start ? 1 : 0),
  ); // prettier-ignore
  for (const each of sorted) {
    const indexes = rows.flatMap((row, index) => (isCovered(row, each) ? [index] : []));
    const groups = each.target === null ? [indexes] : indexes.map((index) => [index]);
    for (const group of groups) {
      const again = found.find(
        ({ coupon, target, covers }) =>
          coupon === each.coupon &&
          target === each.target &&
          group.some((index) => covers.has(index)),
      );
      if (again !== undefined) for (const index of group) again.covers.set(index, each);
      else if (group.length > 0)
        found.push({
          coupon: each.coupon,
          target: each.target,
          covers: new Map(group.map((index) => [index, each])),
        });
    }
  }
  return found;
}

function isCovered(row: Row, { target, segment, start, end }: Attached): boolean {
  if (target !== null && row.target !== target) return false;
  if (target === 'fee' && row.segment !== segment) return false;
  if (end !== null && (start >= end || row.start >= end)) return false;
  return row.start === row.end ? row.start >= start : row.end > start;
}

/** Parts of an amount in proportion to the weights: whole cents, the largest remainders first. */
function split(amount: number, weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const parts = weights.map((weight) => Math.floor((amount * weight) / total));
  const order = weights
    .map((weight, index) => ({ index, rest: (amount * weight) % total }))
    .sort((a, b) => b.rest - a.rest || a.index - b.index);
  let left = amount - parts.reduce((sum, part) => sum + part, 0);
  for (const { index } of order) {
    if (left === 0) break;
    parts[index]! += 1;
    left -= 1;
  }
  return parts;
}
