import { firstPeriod } from '../../../domain/time/billing-periods.ts';
import type { Period } from '../../../domain/time/instant.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { CouponAssociation } from '../../../schemas/coupon.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BillingDeps } from '../../deps.ts';
import type { BilledLine } from '../computing/billing-sources.ts';
import { computeInvoices, onlyComputed } from '../computing/compute-invoices.ts';
import type { InvoiceTarget } from '../computing/invoice-target.ts';
import { issueInvoices, type ConcernedInvoice } from '../computing/write-invoices.ts';
import type { Caller } from '../../conventions/record.ts';
import { ownedOverride, type NewTaxOverride } from './tax-overrides.ts';
import type { NewSubscription } from '../records/subscription-repository.ts';

export interface NewlyOpened {
  readonly draft: NewSubscription;
  readonly customer: Customer;
  readonly lines: readonly BilledLine[];
  readonly coupons: readonly CouponAssociation[];
  readonly taxes: readonly NewTaxOverride[];
  readonly trial: Period | null;
  readonly at: string;
}

/**
 * The opening invoice of a new subscription: the advances of its first period, or a trial's preview at 0,
 * issued at once (billing 3.1, 10.4). Null if there are no advances or the start is in the future
 * (19.1). Reads no usage and writes only the invoice number.
 */
export async function openingInvoice(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { draft, customer, lines, coupons, taxes, trial, at }: NewlyOpened,
): Promise<ConcernedInvoice | null> {
  if (trial === null && draft.start_date > at) return null;
  const subscription: SubscriptionRow = { ...draft, version: 1 };
  const target = openingTarget(subscription, trial);
  const options = {
    at,
    user_id: caller.user_id,
    lines: new Map([[draft.id, lines]]),
    coupons: new Map([[draft.id, coupons]]),
    taxes: taxes.map(ownedOverride),
  };
  const computed = onlyComputed(await computeInvoices(deps, tx, caller.scope, [target], options));
  if (computed.lines.length === 0) return null;
  const first = {
    ...computed,
    subscription,
    customer,
    terms: draft,
    invoice: { ...computed.invoice, billing_sequence: 1 },
  };
  if (first.invoice.invoice_status === 'SKIPPED') return first;
  const [issued] = await issueInvoices(tx, caller.scope, [first], { at, user_id: caller.user_id });
  return issued!;
}

function openingTarget(subscription: SubscriptionRow, trial: Period | null): InvoiceTarget {
  const opening = firstPeriod(subscription)!;
  return {
    subscription,
    billing_reason: trial === null ? 'SUBSCRIPTION_CREATE' : 'SUBSCRIPTION_TRIAL_START',
    period: trial ?? opening,
    proration_behavior: subscription.proration_behavior,
    covers: { closing: null, opening },
    invoice: null,
    finalize_after: null,
  };
}
