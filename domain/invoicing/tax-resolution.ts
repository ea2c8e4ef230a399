import { BillingError, invalidField, invalidOperation } from '../errors.ts';
import { decimal } from '../money.ts';
import { epochMs } from '../time/instant.ts';
import { overlaps } from './service-window.ts';
import type { InvoiceTaxRate, TaxBehavior, TaxExemption } from './taxes.ts';

/** Most specific first. Only the first level with a rate applies (billing 8.1). */
export const TAX_LEVELS = ['invoice', 'subscription', 'plan', 'customer', 'tenant'] as const;
export type TaxLevel = (typeof TAX_LEVELS)[number];

/** An association of a tax rate, with the fields of the rate that decide. */
export interface TaxAssociation {
  readonly id: string;
  readonly level: TaxLevel;
  readonly tax_rate_id: string;
  readonly tax_rate_status: 'ACTIVE' | 'INACTIVE';
  readonly percentage_value: string;
  readonly tax_behavior: TaxBehavior;
  readonly priority: number;
  readonly auto_apply: boolean;
  /** Null means every currency. */
  readonly currency: string | null;
  /** Half-open. A null bound is open. */
  readonly start_date: string | null;
  readonly end_date: string | null;
}

export interface ResolvedTaxes {
  readonly rates: readonly InvoiceTaxRate[];
  readonly exemption: TaxExemption | null;
}

/**
 * Tax rates of an invoice at the time of its computation (billing 8.1). An association applies if
 * its rate is active, it is applied automatically, its currency fits, and it is in force during the period of
 * the invoice. Only the most specific level with such an association counts; levels are never combined. An
 * exempt customer has no rates.
 */
export function resolveTaxes(
  invoice: {
    readonly tax_treatment: 'taxable' | 'exempt';
    readonly currency: string;
    readonly period_start: string | null;
    readonly period_end: string | null;
  },
  associations: readonly TaxAssociation[],
): ResolvedTaxes {
  if (invoice.tax_treatment === 'exempt') return { rates: [], exemption: CUSTOMER_EXEMPT };
  const applicable = associations.filter(
    (association) =>
      association.auto_apply &&
      association.tax_rate_status === 'ACTIVE' &&
      (association.currency === null || association.currency === invoice.currency) &&
      overlaps(
        invoice.period_start,
        invoice.period_end,
        association.start_date,
        association.end_date,
      ),
  );
  const level = TAX_LEVELS.find((candidate) =>
    applicable.some((association) => association.level === candidate),
  );
  if (level === undefined) return { rates: [], exemption: NO_TAX_CONFIGURED };
  return {
    exemption: null,
    rates: latestOfEachRate(applicable.filter((association) => association.level === level)).map(
      (association) => ({
        tax_rate_id: association.tax_rate_id,
        tax_association_id: association.id,
        percentage_value: association.percentage_value,
        tax_behavior: association.tax_behavior,
        priority: association.priority,
      }),
    ),
  };
}

/** A rate that was removed and added again in the period, or has a new priority, taxes the invoice once. */
function latestOfEachRate(associations: readonly TaxAssociation[]): readonly TaxAssociation[] {
  const begin = ({ start_date }: TaxAssociation): number =>
    start_date === null ? Number.NEGATIVE_INFINITY : epochMs(start_date);
  const latest = new Map<string, TaxAssociation>();
  for (const association of associations) {
    const other = latest.get(association.tax_rate_id);
    if (other === undefined || begin(association) > begin(other))
      latest.set(association.tax_rate_id, association);
  }
  return associations.filter((association) => latest.get(association.tax_rate_id) === association);
}

export const CUSTOMER_EXEMPT: TaxExemption = {
  reason: 'The customer is exempt from tax.',
  reason_code: 'customer_exempt',
};
const NO_TAX_CONFIGURED: TaxExemption = {
  reason: 'No tax rate is configured for this invoice.',
  reason_code: 'no_tax_configured',
};

/** Refuses a percentage outside 0 to 100 (money 13.4). */
export function validateTaxPercentage(percentage: string): void {
  const value = decimal(percentage);
  if (value.lt(0) || value.gt(100)) {
    throw invalidField('percentage_value', 'must be from 0 to 100');
  }
}

/** What decides whether a rate can be added to a subscription or end on it. */
type TaxWindow = Pick<
  TaxAssociation,
  'id' | 'tax_rate_id' | 'currency' | 'start_date' | 'end_date'
>;

/**
 * Window of a tax rate added to a subscription: from the effective date (default now) on (billing
 * 8.1). Refuses a rate that is already in force, or scheduled, in the same currency (money 13.5).
 */
export function addedTaxWindow(
  associations: readonly TaxWindow[],
  added: { readonly tax_rate_id: string; readonly currency: string | null },
  effectiveDate: string | null,
  at: string,
): { readonly start_date: string; readonly end_date: null } {
  const start = effectiveDate ?? at;
  const taken = associations.find(
    (association) =>
      association.tax_rate_id === added.tax_rate_id &&
      association.currency === added.currency &&
      !hasEnded(association, start),
  );
  if (taken !== undefined) {
    const message = `The tax rate is already associated, as ${taken.id}.`;
    throw new BillingError('conflict', 'already_exists', message, [
      { path: 'tax_rate_code', code: 'already_exists', message },
    ]);
  }
  return { start_date: start, end_date: null };
}

/**
 * End date of a removed association: the effective date (default now). Refuses an association that has ended
 * by then, so that a removal never extends it.
 */
export function removedTaxEnd(
  association: TaxWindow,
  effectiveDate: string | null,
  at: string,
): string {
  const end = effectiveDate ?? at;
  refuseEnded(association, end);
  if (association.start_date !== null && epochMs(end) < epochMs(association.start_date)) {
    return association.start_date;
  }
  return end;
}

/**
 * Where an association is divided because its priority changes from the effective date on (billing 8.1); null if all
 * of it changes: without a date, or with one that is not after its start. Refuses an association that has ended by
 * then.
 */
export function reprioritizedFrom(
  association: TaxWindow,
  effectiveDate: string | null,
): string | null {
  if (effectiveDate === null) return null;
  refuseEnded(association, effectiveDate);
  const { start_date: start } = association;
  return start !== null && epochMs(effectiveDate) <= epochMs(start) ? null : effectiveDate;
}

const hasEnded = (association: Pick<TaxWindow, 'end_date'>, at: string): boolean =>
  association.end_date !== null && epochMs(association.end_date) <= epochMs(at);

function refuseEnded(association: TaxWindow, at: string): void {
  if (hasEnded(association, at))
    throw invalidOperation(
      `Tax association ${association.id} ends at ${association.end_date} already.`,
      'end_date',
    );
}
