import type { InvoiceScope } from '../../../domain/subscription/charges.ts';
import type { ProrationBehavior } from '../../../domain/pricing/proration.ts';
import type { Period } from '../../../domain/time/instant.ts';
import type { BillingReason } from '../../../schemas/invoice-requests.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BillingSources } from './billing-sources.ts';

/** An invoice to compute. */
export interface InvoiceTarget {
  /** The subscription as it will be after this invoice: if it ends with the invoice, it has its end date. */
  readonly subscription: SubscriptionRow;
  readonly billing_reason: BillingReason;
  /** The period of the invoice; its rows have service windows of their own. */
  readonly period: Period;
  readonly covers: InvoiceScope;
  /** How stubs and cut periods are charged. */
  readonly proration_behavior: ProrationBehavior;
  /** The invoice that is recomputed: it and its rows keep their ids. */
  readonly invoice: InvoiceRecord | null;
  /** The invoice that this one replaces: what that one billed and discounted is billed here. */
  readonly replaces?: string;
  /** The voided invoice that is billed again; absent if none is. */
  readonly voided?: InvoiceRecord | null;
  /**
   * End of the grace, after which the job may finalize the invoice; null means the job does not finalize it.
   */
  readonly finalize_after: string | null;
  /** The addon whose rows alone are on the invoice; absent: the rows of all lines. */
  readonly addon?: InvoicedAddon | null;
  /**
   * The paused subscription, if the invoice is that of its resumption; otherwise absent. Its coupons that count periods
   * still end as before the pause.
   */
  readonly resumed?: SubscriptionRow;
  /** Grouped subscriptions whose rows are on the invoice. Absent: not looked up yet. */
  readonly grouped?: readonly InvoiceTarget[];
}

/** An addon with invoices of its own for the periods that were closed before it was attached (billing 15.1). */
export interface InvoicedAddon {
  readonly association_id: string;
  readonly attached_at: string;
}

export interface ComputedInvoice {
  readonly target: InvoiceTarget;
  readonly invoice: InvoiceRecord;
  readonly lines: readonly InvoiceLineRecord[];
  readonly sources: BillingSources;
}
