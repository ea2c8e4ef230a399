import type { InvoiceScope } from '../../../domain/subscription/charges.ts';
import type { ProrationBehavior } from '../../../domain/pricing/proration.ts';
import type { Period } from '../../../domain/time/instant.ts';
import type { BillingReason } from '../../../schemas/invoice-requests.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BillingSources } from './billing-sources.ts';

/** An invoice that is to be computed. */
export interface InvoiceTarget {
  /** As it will be once the invoice stands: one that ends with it has its end date. */
  readonly subscription: SubscriptionRow;
  readonly billing_reason: BillingReason;
  /** What the invoice is for; its rows have service windows of their own. */
  readonly period: Period;
  readonly covers: InvoiceScope;
  /** How stubs and cut periods are charged. */
  readonly proration_behavior: ProrationBehavior;
  /** The invoice that is computed again: it keeps its id, and its rows keep theirs. */
  readonly invoice: InvoiceRecord | null;
  /** When its grace is over and the job may finalize it; null = not by the job. */
  readonly finalize_after: string | null;
}

export interface ComputedInvoice {
  readonly target: InvoiceTarget;
  readonly invoice: InvoiceRecord;
  readonly lines: readonly InvoiceLineRecord[];
  readonly sources: BillingSources;
}
