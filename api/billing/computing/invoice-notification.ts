import type { Customer } from '../../../schemas/customer.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { customerSnapshot, subscriptionSnapshot } from '../records/subscription-notification.ts';

const LINES_MAX = 50;

/** An invoice as notifications carry it; of a long invoice only the first rows (money 17.3). */
export function invoiceSnapshot(
  invoice: InvoiceRecord,
  lines: readonly InvoiceLineRecord[],
  customer: Customer | null,
  subscription: SubscriptionRow | null,
) {
  return {
    id: invoice.id,
    customer_id: invoice.customer_id,
    environment_id: invoice.environment_id,
    subscription_id: invoice.subscription_id,
    invoice_type: invoice.invoice_type,
    invoice_status: invoice.invoice_status,
    payment_status: invoice.payment_status,
    currency: invoice.currency,
    amount_due: invoice.amount_due,
    amount_paid: invoice.amount_paid,
    amount_remaining: invoice.amount_remaining,
    subtotal: invoice.subtotal,
    total: invoice.total,
    invoice_number: invoice.invoice_number,
    due_date: invoice.due_date,
    paid_at: invoice.paid_at,
    voided_at: invoice.voided_at,
    finalized_at: invoice.finalized_at,
    period_start: invoice.period_start,
    period_end: invoice.period_end,
    invoice_pdf_url: invoice.invoice_pdf_url,
    billing_reason: invoice.billing_reason,
    metadata: invoice.metadata,
    customer: customer === null ? null : customerSnapshot(customer),
    subscription: subscription === null ? null : subscriptionSnapshot(subscription, null),
    line_items: lines.slice(0, LINES_MAX).map((line) => ({
      id: line.id,
      price_id: line.price_id,
      display_name: line.display_name,
      plan_display_name: line.plan_display_name,
      amount: line.amount,
      quantity: line.quantity,
      period_start: line.period_start,
      period_end: line.period_end,
    })),
    line_items_truncated: lines.length > LINES_MAX,
  };
}
