import type { Attached, Row } from './discounts.ts';
import type { PlanTerms } from './plans.ts';

/** What a subscription costs from a time on. */
export interface Terms {
  readonly from: string;
  readonly plan: PlanTerms;
  readonly quantity: number;
  /** They begin with a period; otherwise the advance of a period that begins at `from` is due by the terms before. */
  readonly isOfPeriod: boolean;
}

/** A subscription as the company agreed on it with its customer. */
export interface Subscription {
  readonly id: string;
  readonly start: string;
  /** In the order of their times. */
  readonly terms: Terms[];
  /** Exclusive; null runs on. */
  end: string | null;
  /**
   * The fee of a period that began at `end` was already due when it was cancelled, and is not credited
   * (billing 5.2).
   */
  isCancelledAtOnce: boolean;
  /** In the order in which they were attached; also those that have ended. */
  readonly coupons: Attached[];
}

/** What a customer used at a time. */
export interface Use {
  readonly at: string;
  readonly units: number;
}

/** The period of an invoice and why it was issued, as the product tells them. */
export interface BilledPeriod {
  readonly billing_reason: string;
  readonly period_start: string;
  readonly period_end: string;
}

export const monthsLater = (at: string, months: number): string => {
  const date = new Date(at);
  date.setUTCMonth(date.getUTCMonth() + months);
  return date.toISOString();
};

/** The end of the subscription's period that a time lies in; a boundary lies in the period that it begins. */
export function periodEnd({ start }: Subscription, at: string): string {
  let month = 1;
  while (monthsLater(start, month) <= at) month += 1;
  return monthsLater(start, month);
}

export const subscriptionOf = (id: string, plan: PlanTerms, start: string): Subscription => ({
  id,
  start,
  terms: [{ from: start, plan, quantity: 1, isOfPeriod: true }],
  end: null,
  isCancelledAtOnce: false,
  coupons: [],
});

export const feeOf = ({ plan, quantity }: Terms): number => plan.fee * quantity;

/** The terms at a time. */
export const termsAt = ({ terms }: Subscription, at: string): Terms =>
  terms.findLast(({ from }) => from <= at) ?? terms[0]!;

/** The terms by which the advance of a period is due. */
export const termsOfPeriod = ({ terms }: Subscription, start: string): Terms =>
  terms.findLast(({ from, isOfPeriod }) => from < start || (from === start && isOfPeriod))!;

/** The number of plans that the subscription had before the one of these terms, or of those at a time. */
export function segmentAt({ terms }: Subscription, at: string): number {
  const known = terms.filter(({ from }) => from <= at);
  return known.filter(({ plan }, index) => index > 0 && plan !== known[index - 1]!.plan).length;
}

/** The begin of the subscription's period that a time lies in. */
export function periodStart({ start }: Subscription, at: string): string {
  let month = 0;
  while (monthsLater(start, month + 1) <= at) month += 1;
  return monthsLater(start, month);
}

/** Each plan charges the usage of its own time (billing 14.2): the begins of these times, and the charges. */
export function rowsOfUsage({ terms }: Subscription, used: readonly Use[]): Map<string, number> {
  const segments = terms.filter(({ plan }, index) => plan !== terms[index - 1]?.plan);
  return new Map(
    segments.map(({ plan, from }, index) => {
      const to = segments[index + 1]?.from;
      const own = used.filter(
        ({ at }) => (index === 0 || at >= from) && (to === undefined || at < to),
      );
      return [from, plan.charge(own.reduce((units, each) => units + each.units, 0))];
    }),
  );
}

/** The usage rows of an invoice. */
export function rowsOfPeriod(
  subscription: Subscription,
  used: readonly Use[],
  { period_start, period_end }: BilledPeriod,
): Map<string, number> {
  const { end } = subscription;
  return rowsOfUsage(
    subscription,
    used.filter(({ at }) => at >= period_start && at < period_end && (end === null || at < end)),
  );
}

/** The usage rows of an invoice, each in the time of its plan. */
export function usageRows(
  { terms, end }: Subscription,
  charges: ReadonlyMap<string, number>,
  { period_start, period_end }: BilledPeriod,
): Row[] {
  const segments = terms.filter(({ plan }, index) => plan !== terms[index - 1]?.plan);
  const last = end !== null && end < period_end ? end : period_end;
  return segments.flatMap(({ from }, segment): Row[] => {
    const to = segments[segment + 1]?.from;
    // The plan was changed again at once.
    if (to === from) return [];
    const start = segment === 0 || from < period_start ? period_start : from;
    const ends = to === undefined || to > last ? last : to;
    return [{ target: 'usage', segment, start, end: ends, amount: charges.get(from) ?? 0 }];
  });
}

/** The fee of a period by its terms. */
function feeRow(subscription: Subscription, start: string, terms: Terms): Row {
  const next = subscription.terms[subscription.terms.indexOf(terms) + 1];
  const end = periodEnd(subscription, start);
  return {
    target: 'fee',
    segment: segmentOf(subscription, terms),
    start,
    end: next !== undefined && next.from > start && next.from < end ? next.from : end,
    amount: feeOf(terms),
  };
}

/** The number of plans that the subscription had before these terms. */
export const segmentOf = ({ terms }: Subscription, of: Terms): number =>
  terms
    .slice(0, terms.indexOf(of) + 1)
    .filter(({ plan }, index) => index > 0 && plan !== terms[index - 1]!.plan).length;

/**
 * What an invoice of the subscription must ask for, in cents, by the plan's terms and what the customer used. Knows
 * nothing that the product computed.
 */
export function expectedCharge(
  subscription: Subscription,
  used: readonly Use[],
  invoice: BilledPeriod,
): {
  /** Before discounts; the fee is the last, if there is one. */
  readonly lines: readonly Row[];
  readonly fee: number;
  readonly rows: ReadonlyMap<string, number>;
} {
  const { start, end, terms, isCancelledAtOnce } = subscription;
  if (invoice.billing_reason === 'SUBSCRIPTION_CREATE')
    return {
      lines: [feeRow(subscription, start, terms[0]!)],
      fee: feeOf(terms[0]!),
      rows: new Map(),
    };
  const rows = rowsOfPeriod(subscription, used, invoice);
  let month = 1;
  while (monthsLater(start, month) < invoice.period_end) month += 1;
  const isBoundary = monthsLater(start, month) === invoice.period_end;
  const hasNext =
    end === null || invoice.period_end < end || (isCancelledAtOnce && invoice.period_end === end);
  const goesOn = isBoundary && hasNext && invoice.billing_reason === 'SUBSCRIPTION_CYCLE';
  const next = termsOfPeriod(subscription, invoice.period_end);
  const lines = usageRows(subscription, rows, invoice);
  if (!goesOn || feeOf(next) === 0) return { lines, rows, fee: 0 };
  lines.push(feeRow(subscription, invoice.period_end, next));
  return { lines, rows, fee: feeOf(next) };
}
