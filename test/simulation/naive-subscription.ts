import { Decimal } from '../../domain/money.ts';

/**
 * A second, naive account of one subscription: fees and usage, monthly, computed month by month as a bookkeeper would.
 * It shares decimals with the product and nothing else: no calendar, no grid, no rating, no queries.
 */

export const DAY = 86_400_000;

/** One change in a period; its day is counted from the start of the period. */
export type Change =
  | { readonly kind: 'none' }
  /** From the day on there are this many seats. */
  | { readonly kind: 'seats'; readonly day: number; readonly seats: number }
  /** From the day on the subscription has the other plan, with one seat. */
  | { readonly kind: 'plan'; readonly day: number }
  /** From the day on there is one more addon. */
  | { readonly kind: 'attach'; readonly day: number }
  /** One addon less from the end of the period on. */
  | { readonly kind: 'detach'; readonly day: number }
  /** Paused from the day on, for so many days; some days after it, in the same period, something else changes. */
  | {
      readonly kind: 'pause';
      readonly day: number;
      readonly days: number;
      readonly then: {
        readonly days: number;
        readonly change:
          { readonly kind: 'seats'; readonly seats: number } | { readonly kind: 'stop' };
      } | null;
    }
  /** Ends with the period, or on the day. */
  | { readonly kind: 'cancel'; readonly day: number }
  | { readonly kind: 'stop'; readonly day: number };

export const METERS = ['calls', 'data', 'jobs'] as const;
export type MeterName = (typeof METERS)[number];

export interface Use {
  readonly meter: MeterName;
  readonly at: number;
  readonly value: number;
}

export interface Life {
  readonly start: number;
  readonly months: number;
  readonly seats: number;
  /** Percent off everything in the first periods; null for none. */
  readonly off: { readonly percent: number; readonly periods: number } | null;
  /** One for each period. */
  readonly changes: readonly Change[];
}

export interface Tariff {
  /** For each seat, in advance. */
  readonly seat: string;
  /** In arrear. */
  readonly support: string;
  readonly call: string;
  readonly data: readonly { readonly upTo: number | null; readonly each: string }[];
  readonly jobs: { readonly size: number; readonly each: string };
}

export const TARIFFS = [
  {
    seat: '19.99',
    support: '30.05',
    call: '0.0123',
    data: [
      { upTo: 100, each: '0.107' },
      { upTo: null, each: '0.0533' },
    ],
    jobs: { size: 30, each: '4.99' },
  },
  {
    seat: '27.35',
    support: '12.01',
    call: '0.0207',
    data: [
      { upTo: 60, each: '0.091' },
      { upTo: null, each: '0.0777' },
    ],
    jobs: { size: 25, each: '3.33' },
  },
] as const satisfies readonly Tariff[];
export const ADDON = '12.49';

export interface Told {
  /** Of each invoice that is not zero: rows before discounts, and the discount. */
  readonly invoices: readonly { readonly subtotal: string; readonly discount: string }[];
  /** Money that went to the wallet. */
  readonly credited: string;
  /** When each period began, with the end of the last one. */
  readonly bounds: readonly number[];
  /** Units of each meter that were billed. */
  readonly units: Readonly<Record<MeterName, number>>;
}

/** A tariff, from and until when. */
type Span = readonly [Tariff, number, number];
/** From when until when usage does not count. */
type Unused = readonly [number, number] | null;

const cents = (value: Decimal) => value.toDecimalPlaces(2, Decimal.ROUND_HALF_UP);
const zero = new Decimal(0);
const total = (rows: readonly Decimal[]) => rows.reduce((sum, row) => sum.plus(row), zero);

export function tell(life: Life, uses: readonly Use[]): Told {
  const invoices: { subtotal: string; discount: string }[] = [];
  const bounds = [life.start];
  const units = { calls: 0, data: 0, jobs: 0 };
  let credited = zero;
  let seats = life.seats;
  let addons = 0;
  let plan = 0;
  let anchor = life.start;
  let sinceAnchor = 0;

  const isOff = (period: number) => life.off !== null && period < life.off.periods;
  /** Rows of the period, and rows of the next one; less than nothing goes to the wallet. */
  const bill = (period: number, rows: readonly Decimal[], next: readonly Decimal[] = []) => {
    const subtotal = total([...rows, ...next]);
    const discounted = total([...(isOff(period) ? rows : []), ...(isOff(period + 1) ? next : [])]);
    if (subtotal.lt(0)) credited = credited.minus(subtotal);
    if (subtotal.lte(0)) return;
    const discount = cents(discounted.times(life.off?.percent ?? 0).div(100));
    invoices.push({ subtotal: subtotal.toFixed(), discount: discount.toFixed() });
  };
  const fees = () => [
    cents(new Decimal(TARIFFS[plan]!.seat).times(seats)),
    ...Array.from({ length: addons }, () => new Decimal(ADDON)),
  ];
  const usageOf = (tariff: Tariff, from: number, to: number, unused: Unused = null) =>
    METERS.map((meter) => {
      const quantity = uses
        .filter((use) => use.meter === meter && use.at >= from && use.at < to)
        .filter(({ at }) => unused === null || at < unused[0] || at >= unused[1])
        .reduce((sum, { value }) => sum + value, 0);
      units[meter] += quantity;
      return charge(tariff, meter, quantity);
    });

  bill(-1, [], fees());
  for (let month = 0; month < life.months; month += 1) {
    const start = bounds.at(-1)!;
    const change = life.changes[month]!;
    const at = change.kind === 'none' ? start : start + change.day * DAY;
    const planned = monthsAfter(anchor, (sinceAnchor += 1));
    const part = (amount: Decimal, from: number, to: number) =>
      cents(amount.times(to - from).div(planned - start));
    const seatFee = (count: number) => new Decimal(TARIFFS[plan]!.seat).times(count);
    const tariff = TARIFFS[plan]!;
    const support = new Decimal(tariff.support);

    if (change.kind === 'stop') {
      const back = [seatFee(seats), ...Array.from({ length: addons }, () => new Decimal(ADDON))];
      bounds.push(at);
      bill(month, [part(support, start, at), ...usageOf(tariff, start, at)]);
      // The last invoice waits for late usage, so what is returned does not wait for it.
      credited = credited.plus(total(back.map((fee) => part(fee, at, planned))));
      break;
    }
    let end = planned;
    let arrears = [support];
    let spans: Span[] = [[tariff, start, end]];
    let unused: Unused = null;
    if (change.kind === 'pause') {
      const length = change.days * DAY;
      end += length;
      [anchor, sinceAnchor] = [end, 0];
      // The usage of the pause is not that of the period, which is one for tiers and packages.
      unused = [at, at + length];
      spans = [[tariff, start, end]];
      if (change.then !== null) {
        const later = at + length + change.then.days * DAY;
        const before = part(seatFee(seats), later, end);
        if (change.then.change.kind === 'stop') {
          const active = cents(support.times(later - start - length).div(planned - start));
          bounds.push(later);
          bill(month, [active, ...usageOf(tariff, start, later, unused)]);
          const back = Array.from({ length: addons }, () => part(new Decimal(ADDON), later, end));
          credited = credited.plus(total([before, ...back]));
          break;
        }
        seats = change.then.change.seats;
        bill(month, [part(seatFee(seats), later, end), before.neg()]);
      }
    }
    if (change.kind === 'seats') {
      const before = part(seatFee(seats), at, end);
      seats = change.seats;
      bill(month, [part(seatFee(seats), at, end), before.neg()]);
    }
    if (change.kind === 'plan') {
      const before = part(seatFee(seats), at, end);
      [plan, seats] = [1 - plan, 1];
      const other = TARIFFS[plan]!;
      bill(month, [part(seatFee(seats), at, end), before.neg()]);
      arrears = [part(support, start, at), part(new Decimal(other.support), at, end)];
      spans = [
        [tariff, start, at],
        [other, at, end],
      ];
    }
    if (change.kind === 'attach') {
      addons += 1;
      bill(month, [part(new Decimal(ADDON), at, end)]);
    }
    if (change.kind === 'detach') addons -= 1;
    bounds.push(end);
    const usage = spans.flatMap(([own, from, to]) => usageOf(own, from, to, unused));
    const isLast = change.kind === 'cancel';
    bill(month, [...arrears, ...usage], isLast ? [] : fees());
    if (isLast) break;
  }
  return { invoices, credited: credited.toFixed(), bounds, units };
}

function charge(tariff: Tariff, meter: MeterName, quantity: number): Decimal {
  switch (meter) {
    case 'calls':
      return cents(new Decimal(tariff.call).times(quantity));
    case 'jobs':
      return cents(new Decimal(tariff.jobs.each).times(Math.ceil(quantity / tariff.jobs.size)));
    case 'data': {
      const [low, high] = tariff.data;
      const first = Math.min(quantity, low!.upTo!);
      const price = (count: number, each: string) => new Decimal(each).times(count);
      return cents(price(first, low!.each).plus(price(quantity - first, high!.each)));
    }
    default:
      return meter satisfies never;
  }
}

/** The same day so many months later, or the last one of a shorter month. */
function monthsAfter(anchor: number, months: number): number {
  const from = new Date(anchor);
  const first = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months, 1);
  const last = new Date(
    Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months + 1, 0),
  ).getUTCDate();
  return first + (Math.min(from.getUTCDate(), last) - 1) * DAY;
}
