import { CHECKOUT_SOURCE, isGated } from '../../../domain/invoicing/gated-invoice.ts';
import { decimal } from '../../../domain/money.ts';
import { moveSubscription } from '../../../domain/states/subscription.ts';
import { assertOpeningPaid, openingStatus } from '../../../domain/subscription/activation.ts';
import { waitsForPayment } from '../../../domain/subscription/pay-first.ts';
import { dueAt } from '../../../domain/subscription/due.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import type { OutboxEvent } from '../../../postgres/tables/outbox.ts';
import type { CouponAssociation } from '../../../schemas/coupon.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BillingDeps } from '../../deps.ts';
import type { BilledLine } from '../computing/billing-sources.ts';
import { computeInvoices, onlyComputed } from '../computing/compute-invoices.ts';
import { openingTarget } from '../computing/targets.ts';
import {
  invoiceEvent,
  issueNewInvoice,
  type ConcernedInvoice,
} from '../computing/write-invoices.ts';
import { insertInvoiceLines } from '../records/invoice-line-repository.ts';
import { insertInvoices } from '../records/invoice-repository.ts';
import type { Caller } from '../../conventions/record.ts';
import { ownedOverride, type NewTaxOverride } from './tax-overrides.ts';

export interface NewlyOpened {
  /** Its status is the one after the payment of the opening invoice: trialing or active. */
  readonly subscription: SubscriptionRow;
  readonly customer: Customer;
  readonly at: string;
  /** The charges of a new subscription that is not stored yet. Absent if it is stored. */
  readonly unstored?: {
    readonly lines: readonly BilledLine[];
    readonly coupons: readonly CouponAssociation[];
    readonly taxes: readonly NewTaxOverride[];
  };
  /** With a checkout an invoice with an amount stays a draft until its session is paid (money 11.6). */
  readonly hasCheckout?: boolean;
}

/**
 * The opening invoice of a new subscription: the advances of its first period, or a trial's preview at 0,
 * issued at once (billing 3.1, 10.4). Null if there are no advances, for a draft, and for a start in the
 * future (10.5, 19.1). Reads no usage and writes only the invoice number.
 */
export async function openingInvoice(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { subscription, customer, at, unstored, hasCheckout = false }: NewlyOpened,
): Promise<ConcernedInvoice | null> {
  if (subscription.subscription_status === 'draft' || !hasBegun(subscription, at)) return null;
  const { id } = subscription;
  const options = {
    at,
    user_id: caller.user_id,
    ...(unstored === undefined
      ? {}
      : {
          lines: new Map([[id, unstored.lines]]),
          coupons: new Map([[id, unstored.coupons]]),
          taxes: unstored.taxes.map(ownedOverride),
        }),
  };
  const target = openingTarget(subscription);
  const computed = onlyComputed(await computeInvoices(deps, tx, caller.scope, [target], options));
  if (computed.lines.length === 0) return null;
  const first = {
    ...computed,
    subscription,
    customer,
    terms: subscription,
    invoice: { ...computed.invoice, billing_sequence: 1 },
  };
  if (first.invoice.invoice_status === 'SKIPPED') return first;
  const { invoice } = first;
  const waits = subscription.subscription_status !== 'trialing';
  if (waits && waitsForPayment(hasCheckout, decimal(invoice.amount_due)))
    return {
      ...first,
      invoice: { ...invoice, source_type: CHECKOUT_SOURCE, finalize_after: null },
    };
  return await issueNewInvoice(tx, deps, caller.scope, first, { at, user_id: caller.user_id });
}

const hasBegun = (subscription: Pick<SubscriptionRow, 'current_period_start'>, at: string) =>
  subscription.current_period_start <= at;

/** The fields that the opening of a subscription decides (billing 10.3, 10.4, 19.1). */
export type Opened = Pick<
  SubscriptionRow,
  'subscription_status' | 'last_billing_sequence' | 'due_at'
>;

/**
 * The subscription after its opening invoice. Refuses an unpaid one with `error_if_incomplete`, unless the invoice
 * is charged as soon as it is stored (`isCharged`).
 */
export function opened(
  how: 'create' | 'activate',
  subscription: Omit<SubscriptionRow, 'version'>,
  opening: ConcernedInvoice | null,
  at: string,
  isCharged: boolean,
): Opened {
  const { subscription_status } = subscription;
  const last_billing_sequence = opening?.invoice.billing_sequence ?? 0;
  if (opening !== null && isGated(opening.invoice)) {
    const waiting = moveSubscription(null, 'create_draft');
    return { subscription_status: waiting, last_billing_sequence, due_at: null };
  }
  if (subscription_status === 'draft')
    return { subscription_status, last_billing_sequence, due_at: null };
  // For a start in the future, the billing run opens the subscription at the start.
  if (!hasBegun(subscription, at))
    return {
      subscription_status,
      last_billing_sequence,
      due_at: subscription.current_period_start,
    };
  if (subscription_status === 'trialing')
    return { subscription_status, last_billing_sequence, due_at: dueAt(subscription) };
  const status = openingStatus(subscription, decimal(opening?.invoice.amount_due ?? '0'), false);
  if (!isCharged) assertOpeningPaid(subscription, status);
  const moved =
    how === 'create'
      ? moveSubscription(null, status === 'active' ? 'create_active' : 'create_incomplete')
      : moveSubscription('draft', status === 'active' ? 'activate_active' : 'activate_incomplete');
  const next = { ...subscription, subscription_status: moved };
  return { subscription_status: moved, last_billing_sequence, due_at: dueAt(next) };
}

/** Writes the opening invoice. Returns the notification of its issue; none if it is not issued. */
export async function writeOpening(
  tx: Transaction,
  scope: Scope,
  subscription: SubscriptionRow,
  opening: ConcernedInvoice | null,
): Promise<(OutboxEvent & { readonly scope: Scope })[]> {
  if (opening === null) return [];
  await insertInvoices(tx, [opening.invoice]);
  await insertInvoiceLines(tx, opening.lines);
  return opening.invoice.invoice_status === 'FINALIZED'
    ? [invoiceEvent('invoice.update.finalized', scope, { ...opening, subscription })]
    : [];
}
