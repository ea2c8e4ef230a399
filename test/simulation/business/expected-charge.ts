import type { PlanTerms } from './plans.ts';

/** A subscription as the company agreed on it with its customer. */
export interface Subscription {
  readonly id: string;
  readonly plan: PlanTerms;
  readonly start: string;
  /** Exclusive; null runs on. */
  end: string | null;
  /**
   * The fee of a period that began at `end` was already due when it was cancelled, and is not credited
   * (billing 5.2).
   */
  isCancelledAtOnce: boolean;
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

/**
 * What an invoice of the subscription must ask for, in cents, by the plan's terms and what the customer used. Knows
 * nothing that the product computed.
 */
export function expectedCharge(
  { plan, start, end, isCancelledAtOnce }: Subscription,
  used: readonly Use[],
  invoice: BilledPeriod,
): { readonly usage: number; readonly fee: number } {
  if (invoice.billing_reason === 'SUBSCRIPTION_CREATE') return { usage: 0, fee: plan.fee };
  const units = used
    .filter(
      ({ at }) =>
        at >= invoice.period_start && at < invoice.period_end && (end === null || at < end),
    )
    .reduce((sum, each) => sum + each.units, 0);
  let month = 1;
  while (monthsLater(start, month) < invoice.period_end) month += 1;
  const isBoundary = monthsLater(start, month) === invoice.period_end;
  const hasNext =
    end === null || invoice.period_end < end || (isCancelledAtOnce && invoice.period_end === end);
  const goesOn = isBoundary && hasNext && invoice.billing_reason === 'SUBSCRIPTION_CYCLE';
  return { usage: plan.charge(units), fee: goesOn ? plan.fee : 0 };
}
