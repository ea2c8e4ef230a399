/**
 * A second computation of an invoice, written from the rule pages (billing 7.3, 8.2, 9.2,
 * 9.3) and not from `domain/`: whole numbers of minor units, ratios of bigints, one pass after the
 * other over plain columns. Percentages are in thousandths of a percent.
 */
export interface ShadowRow {
  amount: bigint;
  isCredit: boolean;
  isUsage: boolean;
  subscription: string;
  item: string;
  /** Days; equal for a one-time charge. */
  from: number;
  to: number;
}

export interface ShadowCoupon {
  /** Line item, or null for the whole invoice. */
  item: string | null;
  subscription: string | null;
  percent: bigint | null;
  off: bigint;
  /** Order among its level. */
  since: number;
  from: number;
  to: number;
}

export interface ShadowTax {
  percent: bigint;
  isInclusive: boolean;
}

export interface ShadowWallet {
  units: bigint;
  pays: 'usage' | 'fixed' | 'all';
}

export interface ShadowInvoice {
  lineDiscounts: bigint[];
  invoiceDiscounts: bigint[];
  credits: bigint[];
  walletDebits: bigint[];
  /** In the order of the rates given. */
  taxes: bigint[];
  subtotal: bigint;
  discount: bigint;
  inclusive: bigint;
  exclusive: bigint;
  total: bigint;
  negative: bigint;
}

const total = (values: bigint[]) => values.reduce((one, other) => one + other, 0n);
const least = (...values: bigint[]) => values.reduce((one, other) => (other < one ? other : one));

/** n/d to the nearest whole, ties up; neither is negative. */
const nearest = (n: bigint, d: bigint) => (2n * n + d) / (2n * d);

export function shadowInvoice(
  rows: ShadowRow[],
  coupons: ShadowCoupon[],
  taxRates: ShadowTax[],
  wallets: ShadowWallet[],
): ShadowInvoice {
  const subtotal = total(rows.map((row) => row.amount));
  const left = rows.map((row) => row.amount);
  const lineDiscounts = rows.map(() => 0n);
  const invoiceDiscounts = rows.map(() => 0n);
  let allowance = subtotal > 0n ? subtotal : 0n;

  for (const level of ['line', 'invoice']) {
    const column = level === 'line' ? lineDiscounts : invoiceDiscounts;
    const ofLevel = coupons
      .map((coupon, place) => ({ coupon, place }))
      .filter(({ coupon }) => (coupon.item !== null) === (level === 'line'))
      .sort((a, b) => a.coupon.since - b.coupon.since || a.place - b.place);
    for (const { coupon } of ofLevel) {
      const shares = rows.map((row, index) =>
        isHit(row, coupon) && left[index]! > 0n ? left[index]! : 0n,
      );
      const base = total(shares);
      if (base === 0n || allowance === 0n) continue;
      const asked = coupon.percent === null ? coupon.off : nearest(base * coupon.percent, 100_000n);
      const given = least(asked, base, allowance);
      allowance -= given;
      handOut(given, shares).forEach((part, index) => {
        column[index] = column[index]! + part;
        left[index] = left[index]! - part;
      });
    }
  }

  const discount = total(lineDiscounts) + total(invoiceDiscounts);
  const base = subtotal > discount ? subtotal - discount : 0n;
  const { taxes, inclusive, exclusive } = taxOn(base, taxRates);

  const credits = rows.map(() => 0n);
  let asks = base;
  const walletDebits = wallets.map((wallet) => {
    let purse = wallet.units;
    rows.forEach((row, index) => {
      if (wallet.pays !== 'all' && (wallet.pays === 'usage') !== row.isUsage) return;
      const open = left[index]! - credits[index]!;
      const paid = open > 0n ? least(open, purse, asks) : 0n;
      credits[index] = credits[index]! + paid;
      purse -= paid;
      asks -= paid;
    });
    return wallet.units - purse;
  });

  const net = subtotal - discount - total(credits) + exclusive;
  return {
    lineDiscounts,
    invoiceDiscounts,
    credits,
    walletDebits,
    taxes,
    subtotal,
    discount,
    inclusive,
    exclusive,
    total: net > 0n ? net : 0n,
    negative: net < 0n ? -net : 0n,
  };
}

function isHit(row: ShadowRow, coupon: ShadowCoupon): boolean {
  if (row.isCredit) return false;
  if (coupon.item !== null && coupon.item !== row.item) return false;
  if (
    coupon.item === null &&
    coupon.subscription !== null &&
    coupon.subscription !== row.subscription
  ) {
    return false;
  }
  if (coupon.from >= coupon.to) return false;
  const lastDay = row.from === row.to ? row.from : row.to - 1;
  return row.from < coupon.to && lastDay >= coupon.from;
}

/** Each share rounded down, then unit by unit to the share with the largest remainder, the earlier first. */
function handOut(amount: bigint, shares: bigint[]): bigint[] {
  const whole = total(shares);
  const parts = shares.map((share) => (amount * share) / whole);
  const owed = shares.map((share) => (amount * share) % whole);
  for (let units = amount - total(parts); units > 0n; units -= 1n) {
    let best = 0;
    owed.forEach((rest, index) => {
      if (rest > owed[best]!) best = index;
    });
    parts[best] = parts[best]! + 1n;
    owed[best] = -1n;
  }
  return parts;
}

function taxOn(base: bigint, rates: ShadowTax[]) {
  const all = total(rates.filter((rate) => rate.isInclusive).map((rate) => rate.percent));
  let net = base;
  const taxes = rates.map((rate) => {
    if (!rate.isInclusive) return 0n;
    const tax = least(nearest(base * rate.percent, 100_000n + all), net);
    net -= tax;
    return tax;
  });
  rates.forEach((rate, index) => {
    if (!rate.isInclusive) taxes[index] = nearest(net * rate.percent, 100_000n);
  });
  const inclusive = base - net;
  return { taxes, inclusive, exclusive: total(taxes) - inclusive };
}
