import { decimal, decimalText } from '../../../domain/money.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import {
  invoiceFields,
  invoiceLineFields,
  type Invoice,
  type InvoiceLineItem,
  type InvoiceLineRecord,
  type InvoiceRecord,
} from '../../../schemas/invoice.ts';
import { findTaxRates } from '../../catalog/taxes/repository.ts';
import { findCustomers } from '../../customers/customers/repository.ts';
import type { Settled } from '../computing/settle.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { picked } from '../../conventions/picked.ts';
import { subscriptionAnswers } from '../records/subscription-answers.ts';
import { findSubscriptions } from '../records/subscription-repository.ts';
import { invoiceCollections } from './invoice-collections.ts';
import { linesOfInvoices } from '../records/invoice-line-repository.ts';

export interface InvoiceEmbeds {
  readonly line_items?: boolean;
  readonly customer?: boolean;
  /** The explanation of each row: for previews. */
  readonly explanations?: boolean;
  /** The rates of the invoice's taxes. */
  readonly tax_rates?: boolean;
  /** The subscription with its line items and their prices. */
  readonly subscription?: boolean;
}

/** Stored invoices as answered, in the same order, with the requested records embedded. */
export async function invoiceAnswers(
  db: Db,
  scope: Scope,
  records: readonly InvoiceRecord[],
  embed: InvoiceEmbeds,
): Promise<Invoice[]> {
  const lines = embed.line_items
    ? await linesOfInvoices(
        db,
        scope,
        records.map(({ id }) => id),
      )
    : [];
  const linesOf = groupBy(lines, ({ invoice_id }) => invoice_id);
  const settled = records.map((invoice) => ({
    invoice,
    lines: embed.line_items ? (linesOf.get(invoice.id) ?? []) : null,
  }));
  return await settledAnswers(db, scope, settled, embed);
}

/** The same for computed invoices whose rows are in memory and may never be stored. */
export async function settledAnswers(
  db: Db,
  scope: Scope,
  settled: readonly {
    readonly invoice: InvoiceRecord;
    readonly lines: readonly InvoiceLineRecord[] | null;
  }[],
  embed: InvoiceEmbeds,
): Promise<Invoice[]> {
  const records = settled.map(({ invoice }) => invoice);
  const customerIds = embed.customer ? [...new Set(records.map((row) => row.customer_id))] : [];
  const subscriptionIds = embed.subscription
    ? [...new Set(records.flatMap((row) => row.subscription_id ?? []))]
    : [];
  const rateIds = embed.tax_rates
    ? [...new Set(records.flatMap(({ taxes }) => taxes.map((tax) => tax.tax_rate_id)))]
    : [];
  const [customers, rates, collections, subscriptions] = await Promise.all([
    findCustomers(db, scope, customerIds),
    findTaxRates(db, scope, rateIds),
    invoiceCollections(db, scope, records),
    subscriptionAnswers(db, scope, await findSubscriptions(db, scope, subscriptionIds), {
      line_items: true,
      prices: true,
      customer: true,
      plan: { at: records[0]?.updated_at ?? '' },
    }),
  ]);
  return settled.map(({ invoice, lines }) => ({
    ...shown(invoice),
    line_items:
      lines === null ? null : lines.map((line) => lineAnswer(line, embed.explanations === true)),
    taxes: invoice.taxes.map((tax) => ({
      ...tax,
      tax_rate: rates.find(({ id }) => id === tax.tax_rate_id) ?? null,
    })),
    collection: collections.get(invoice.id) ?? null,
    customer: customers.find(({ id }) => id === invoice.customer_id) ?? null,
    subscription: subscriptions.find(({ id }) => id === invoice.subscription_id) ?? null,
  }));
}

const shown = (record: InvoiceRecord) => ({
  ...picked(invoiceFields, record),
  usage_snapshot: usageSnapshot(record),
  checkout_session: null,
});

export const usageSnapshot = ({
  meter_version_ids,
  usage_watermarks,
}: Pick<InvoiceRecord, 'meter_version_ids' | 'usage_watermarks'>) =>
  usage_watermarks === null ? null : { meter_version_ids, watermarks: usage_watermarks };

/** Decimals of a quantity as printed (billing 0.2). */
const QUANTITY_DECIMALS = 15;
const quantityText = (text: string): string =>
  decimalText(decimal(text).toDecimalPlaces(QUANTITY_DECIMALS));

const lineAnswer = (record: InvoiceLineRecord, isExplained: boolean): InvoiceLineItem => ({
  ...picked(invoiceLineFields, record),
  quantity: quantityText(record.quantity),
  adjusted_entitlement_quantity:
    record.adjusted_entitlement_quantity === null
      ? null
      : quantityText(record.adjusted_entitlement_quantity),
  commitment_info: record.commitment_info,
  explanation: isExplained ? record.explanation : null,
  usage_analytics: null,
  usage_breakdown: null,
});

/** An invoice that is not stored, as its preview answers it: a draft without a number, with explained rows. */
export async function previewAnswer(
  db: Db,
  scope: Scope,
  { invoice, lines }: Settled,
): Promise<Invoice> {
  const preview = {
    ...invoice,
    invoice_status: 'DRAFT' as const,
    invoice_number: null,
    metadata: { ...invoice.metadata, is_preview: 'true' },
    version: 0,
  };
  const [answer] = await settledAnswers(db, scope, [{ invoice: preview, lines }], {
    customer: true,
    tax_rates: true,
    explanations: true,
  });
  return answer!;
}
